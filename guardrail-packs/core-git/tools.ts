import type { Finding, ToolCall } from '../_shared/command-pack.ts'
import { fieldsOf, isOn } from '../_shared/tool-fields.ts'
import { identityWords, onServer, ownName } from '../_shared/tool-identity.ts'
import { wordSet } from '../_shared/word-lists.ts'

const hosts = wordSet('bitbucket codeberg devops forgejo git gitea github gitlab gogs')
const removing = wordSet('delete destroy remove')
const things = wordSet('branch branches project ref reference refs repo repository tag tags')

/** Judges tools of git hosts; git's own tools are read as git's command line. */
export function judgeTool(call: ToolCall): Finding | undefined {
  const words = identityWords(ownName(call.tool))
  const isGit = hosts.has(words[0] ?? '') || onServer(call, (word) => hosts.has(word))
  if (!isGit) return undefined
  if (words.includes('discard')) return { ruleId: 'checkout-discard', matchedField: 'tool' }
  const isThing = things.has(words.at(-1) ?? '')
  if (isThing && words.some((word) => removing.has(word)) && !isLocal(words, call))
    return { ruleId: 'push-delete', matchedField: 'tool' }
  const moves = words.includes('update') && words.some((word) => /^ref(?:erence)?$/.test(word))
  return moves && isOn(fieldsOf(call.arguments), 'force')
    ? { ruleId: 'push-force', matchedField: '$.force' }
    : undefined
}

/** `git_delete_branch` is `git branch --delete`, which refuses to lose commits. */
function isLocal(words: readonly string[], call: ToolCall): boolean {
  return words[0] === 'git' || onServer(call, (word) => word === 'git')
}
