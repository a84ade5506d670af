import type { Finding, ToolCall } from '../_shared/command-pack.ts'
import { type Field, fieldsOf, isOn } from '../_shared/tool-fields.ts'
import { identityWords, onServer, ownName } from '../_shared/tool-identity.ts'
import { toolVerb } from '../_shared/tool-verbs.ts'
import { wordSet } from '../_shared/word-lists.ts'

const removing = wordSet('del delete destroy erase purge remove rm rmdir rmtree trash unlink wipe')
/** Verbs that remove the content of a directory. */
const emptying = wordSet('clean clear empty')
const files = wordSet('file files path paths tree')
const directories = wordSet('dir directories directory dirs folder folders')
/** Words after those that describe how. */
const manners = wordSet('batch bulk contents permanently recursive recursively tool')
const fileServers = wordSet(`
  commander desktop disk file files filesystem fs ftp nas sftp smb ssh webdav
`)
const pathKeys = wordSet(`
  absolute_path dir directory file file_path filename filepath files folder path paths target target_file
`)
const actionKeys = wordSet('action command mode op operation type')

/** Judges a tool that deletes files or directories; written files are judged as a command. */
export function judgeTool(call: ToolCall): Finding | undefined {
  const words = identityWords(ownName(call.tool))
  const fields = fieldsOf(call.arguments)
  const found = removes(words, call, fields)
  return found !== undefined && !isOn(fields, 'dry_run', 'dryrun') ? found : undefined
}

const byName: Finding = { ruleId: 'delete-tool', matchedField: 'tool' }

function removes(
  words: readonly string[],
  call: ToolCall,
  fields: readonly Field[],
): Finding | undefined {
  const onFiles = onServer(call, (word) => fileServers.has(word))
  const things = words.filter((word) => !manners.has(word))
  const last = things.at(-1) ?? ''
  const isDirectory = directories.has(last)
  const isThing = isDirectory || files.has(last)
  const verb = toolVerb(words, isDirectory ? everything : removing)
  const hasPath = fields.some(({ key }) => pathKeys.has(key))
  if (verb === 'destructive' && (isThing || (hasPath && (onFiles || things.length === 1))))
    return byName
  if (!(isThing || onFiles || words.includes('file') || words.includes('patch')) || !hasPath)
    return undefined
  // One tool with all actions: `{ operation: 'delete', path: 'x' }`.
  const action = fields.find(
    ({ key, value }) =>
      actionKeys.has(key) &&
      typeof value === 'string' &&
      /^\w{2,24}$/.test(value) &&
      toolVerb(identityWords(value), removing) === 'destructive',
  )
  return action === undefined
    ? undefined
    : { ruleId: 'delete-tool', matchedField: `$.${action.key}` }
}

const everything: ReadonlySet<string> = new Set([...removing, ...emptying])
