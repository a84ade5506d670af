import type { SimpleCommand, Word } from '../_shared/command.ts'
import { readOptions } from '../_shared/command-options.ts'
import type { Finding } from '../_shared/command-pack.ts'
import { judgeInput, showsActions } from './inputs.ts'
import {
  destructiveOperation,
  destructiveOperations,
  globalValues,
  harmlessOperations,
  type InputRule,
  inputRules,
} from './rules.ts'

const find = (ruleId: string): Finding => ({ ruleId, matchedField: 'command.arguments' })
const fromElsewhere = /^(?:fileb?|https?):\/\//i

/** `-- a comment` is a value for the tool. */
const isOption = /^--[\w-]+(?:=|$)/
const containerTools: ReadonlySet<string> = new Set(['docker', 'kubectl', 'nerdctl', 'podman'])
const image = /(?:^|\/)aws-cli(?:[:@]|$)/

/** Judges one call of the provider's command-line tool. */
export function judgeCommand(command: SimpleCommand): Finding | undefined {
  const words = wordsOf(command)
  if (words === undefined) return undefined
  const { operands } = readOptions(words, { values: globalValues })
  const [service, operation] = operands
  const unknown = (word: Word | undefined) =>
    word !== undefined && (word.dynamic || (command.openEnded && word.text.includes('{}')))
  if (unknown(service) || unknown(operation)) return find('unknown-operation')
  if (operation === undefined)
    return command.openEnded === 'appended' ? find('unknown-operation') : undefined
  const asked = service?.text === 'help' || words[words.indexOf(operation) + 1]?.text === 'help'
  if (asked || has(words, 'help') || has(words, 'generate-cli-skeleton')) return undefined
  if (service?.text === 's3') return judgeS3(operation.text, words)
  return judgeOperation(`${service?.text} ${operation.text}`, words)
}

/** The words of a call: by the tool's name, or as the entry point of its image. */
function wordsOf({ executable, words }: SimpleCommand): readonly Word[] | undefined {
  if (/^aws(?:cli|2|v2)?$/.test(executable)) return words
  if (!containerTools.has(executable)) return undefined
  const at = words.findIndex(({ text }) => image.test(text))
  if (at === -1) return undefined
  if (executable !== 'kubectl') return words.slice(at + 1)
  // The image is in an option, and its command after `--`.
  const dashes = words.findIndex(({ text }) => text === '--')
  const runs = words.slice(0, Math.max(dashes, 0)).some(({ text }) => text === 'run')
  return runs ? words.slice(dashes + 1) : undefined
}

function judgeS3(verb: string, words: readonly Word[]): Finding | undefined {
  const { has: given } = readOptions(words, { flags: ['delete', 'dryrun'] })
  if (given('--dryrun')) return undefined
  if (verb === 'rm' || verb === 'rb' || verb === 'mv') return find('s3')
  if (verb === 'sync' && given('--delete')) return find('s3')
  return destructiveOperation.test(verb) ? find('s3') : undefined
}

function judgeOperation(name: string, words: readonly Word[]): Finding | undefined {
  const [service, operation = ''] = name.split(' ')
  const tried = service === 'ec2' && has(words, 'dry-run') && !has(words, 'no-dry-run')
  const destructive =
    (destructiveOperation.test(operation) && !harmlessOperations.has(name)) ||
    destructiveOperations.has(name)
  if (destructive) return tried ? undefined : find('operation')
  if (name === 'ec2 cancel-spot-fleet-requests' && has(words, 'terminate-instances')) {
    return tried ? undefined : find('operation')
  }
  const rule = inputRules.get(name)
  return rule && judgeInputs(rule, words)
}

function judgeInputs(rule: InputRule, words: readonly Word[]): Finding | undefined {
  const options = [...rule.options, 'cli-input-json', 'cli-input-yaml']
  for (const option of options) {
    for (const word of valuesOf(words, option)) {
      if (fromElsewhere.test(word.text)) return find('file-input')
      const denied = judgeInput(word.text, rule.kind)
      if (denied !== undefined) return find(denied)
      if (word.dynamic && !(rule.kind === 'batch' && showsActions(word.text))) {
        return find('unknown-operation')
      }
    }
  }
  return undefined
}

function has(words: readonly Word[], option: string): boolean {
  return words.some(({ text }) => text === `--${option}` || text.startsWith(`--${option}=`))
}

/** The values of an option: `--name=value`, or all words up to the next option. */
function valuesOf(words: readonly Word[], option: string): readonly Word[] {
  const values: Word[] = []
  let taking = false
  for (const word of words) {
    if (!isOption.test(word.text)) {
      if (taking) values.push(word)
      continue
    }
    const [name = '', ...rest] = word.text.slice(2).split('=')
    const abbreviated = name.length > 3 && option.startsWith(name) && !globalValues.includes(name)
    taking = name === option || abbreviated
    if (taking && rest.length > 0) values.push({ ...word, text: rest.join('=') })
  }
  return values
}
