import { bqOptions } from '../_shared/bq-options.ts'
import type { SimpleCommand, Word } from '../_shared/command.ts'
import { type OptionTable, readOptions } from '../_shared/command-options.ts'
import type { Finding } from '../_shared/command-pack.ts'
import { judgeSql } from '../_shared/sql.ts'
import {
  deletingOptions,
  destructiveVerb,
  firstVerbs,
  globalFlags,
  globalValues,
  gsutilRemovals,
  harmlessPrefix,
  harmlessVerbs,
  iamRemoval,
  laterVerbs,
  placeValues,
  removingPaths,
  tracks,
} from './rules.ts'

const find = (ruleId: string): Finding => ({ ruleId, matchedField: 'command.arguments' })

const judges: ReadonlyMap<string, (command: SimpleCommand) => Finding | undefined> = new Map([
  ['gcloud', judgeGcloud],
  ['gsutil', judgeGsutil],
  ['bq', judgeBq],
])
export const executables: ReadonlySet<string> = new Set(judges.keys())

/** Judges one call of the provider's command-line tools. */
export function judgeCommand(command: SimpleCommand): Finding | undefined {
  return judges.get(command.executable)?.(command)
}

const gcloudOptions: OptionTable = {
  values: [...globalValues, ...placeValues, 'sql', 'ddl', 'ddl-file'],
  flags: [...globalFlags, ...deletingOptions.map((option) => option.slice(2))],
}

function judgeGcloud(command: SimpleCommand): Finding | undefined {
  const given = readOptions(command.words, gcloudOptions)
  if (given.has('--help', '-h')) return undefined
  const { operands } = given
  let at = 0
  while (tracks.has(operands[at]?.text ?? '')) at += 1
  const first = at
  for (; at < operands.length; at += 1) {
    const word = operands[at] as Word
    if (word.dynamic) return find('unknown-operation')
    const { text } = word
    if (at > first && destructiveVerb.test(text)) {
      return find(operands[first]?.text === 'storage' ? 'storage' : 'delete')
    }
    if (iamRemoval.test(text)) return find('iam-binding')
    if (isVerb(text, at === first)) return judgeHarmless(given, operands.slice(first, at + 1))
  }
  return command.openEnded === 'appended' ? find('unknown-operation') : undefined
}

function isVerb(text: string, first: boolean): boolean {
  if (first) return firstVerbs.has(text)
  return harmlessVerbs.has(text) || laterVerbs.has(text) || harmlessPrefix.test(text)
}

/** What a harmless verb can still do in one group, or with some options. */
function judgeHarmless(
  given: ReturnType<typeof readOptions>,
  path: readonly Word[],
): Finding | undefined {
  if (given.has(...deletingOptions) && !given.has('--dry-run')) return find('storage')
  const verb = path.at(-1)?.text
  if (verb === 'remove' && removingPaths.has(path.map(({ text }) => text).join(' '))) {
    return find('delete')
  }
  const isDdl = path.some(({ text }) => text === 'ddl')
  if (!isDdl && verb !== 'execute-sql') return undefined
  if (given.has('--ddl-file')) return find('file-input')
  for (const { name, value } of given.options) {
    if ((name !== '--sql' && name !== '--ddl') || value === undefined) continue
    if (judgeSql(value.text, 'any') !== undefined) return find('query')
    if (value.dynamic) return find('unknown-operation')
  }
  return undefined
}

function judgeGsutil(command: SimpleCommand): Finding | undefined {
  const { operands } = readOptions(command.words, { short: 'ohiu', leading: true })
  const [verb, ...rest] = operands
  if (verb === undefined)
    return command.openEnded === 'appended' ? find('unknown-operation') : undefined
  if (verb.dynamic) return find('unknown-operation')
  const given = readOptions(rest, { short: 'xyja' })
  if (given.has('--help')) return undefined
  const [action] = given.operands
  if (gsutilRemovals.has(verb.text)) return find('storage')
  if (verb.text === 'rsync')
    return given.has('-d') && !given.has('-n') ? find('storage') : undefined
  if (verb.text === 'iam' && action?.text === 'ch')
    return given.has('-d') ? find('iam-binding') : undefined
  if (verb.text === 'hmac' || verb.text === 'notification') {
    return action?.text === 'delete' ? find('delete') : undefined
  }
  return undefined
}

function judgeBq(command: SimpleCommand): Finding | undefined {
  const given = readOptions(command.words, bqOptions)
  const [verb] = given.operands
  if (verb === undefined)
    return command.openEnded === 'appended' ? find('unknown-operation') : undefined
  if (verb.dynamic) return find('unknown-operation')
  if (given.has('--help')) return undefined
  if (verb.text === 'rm' || verb.text === 'truncate') return find('dataset')
  return iamRemoval.test(verb.text) ? find('iam-binding') : undefined
}
