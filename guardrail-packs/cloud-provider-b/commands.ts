import type { SimpleCommand, Word } from '../_shared/command.ts'
import { readOptions } from '../_shared/command-options.ts'
import type { Finding } from '../_shared/command-pack.ts'
import { judgeInput } from './inputs.ts'
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

/** Judges one call of the provider's command-line tool. */
export function judgeCommand(command: SimpleCommand): Finding | undefined {
  if (command.executable !== 'aws') return undefined
  const { operands } = readOptions(command.words, { values: globalValues })
  const [service, operation] = operands
  if (operation === undefined) return command.openEnded ? find('unknown-operation') : undefined
  if (service?.dynamic || operation.dynamic) return find('unknown-operation')
  const after = command.words.slice(command.words.indexOf(operation) + 1)
  if (
    service?.text === 'help' ||
    operands[2]?.text === 'help' ||
    has(after, 'generate-cli-skeleton')
  )
    return undefined
  if (service?.text === 's3') return judgeS3(operation.text, after)
  return judgeOperation(`${service?.text} ${operation.text}`, after)
}

function judgeS3(verb: string, after: readonly Word[]): Finding | undefined {
  const { has: given } = readOptions(after, { flags: ['delete', 'dryrun'] })
  if (given('--dryrun')) return undefined
  if (verb === 'rm' || verb === 'rb' || verb === 'mv') return find('s3')
  if (verb === 'sync' && given('--delete')) return find('s3')
  return destructiveOperation.test(verb) ? find('s3') : undefined
}

function judgeOperation(name: string, after: readonly Word[]): Finding | undefined {
  const [service, operation = ''] = name.split(' ')
  const tried = service === 'ec2' && has(after, 'dry-run') && !has(after, 'no-dry-run')
  const destructive =
    (destructiveOperation.test(operation) && !harmlessOperations.has(name)) ||
    destructiveOperations.has(name)
  if (destructive) return tried ? undefined : find('operation')
  if (name === 'ec2 cancel-spot-fleet-requests' && has(after, 'terminate-instances')) {
    return tried ? undefined : find('operation')
  }
  const rule = inputRules.get(name)
  return rule && judgeInputs(rule, after)
}

function judgeInputs(rule: InputRule, after: readonly Word[]): Finding | undefined {
  const options = [...rule.options, 'cli-input-json', 'cli-input-yaml']
  for (const option of options) {
    for (const word of valuesOf(after, option)) {
      if (fromElsewhere.test(word.text)) return find('file-input')
      const denied = judgeInput(word.text, rule.kind)
      if (denied !== undefined) return find(denied)
      if (word.dynamic) return find('unknown-operation')
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
    if (!word.text.startsWith('--')) {
      if (taking) values.push(word)
      continue
    }
    const [name = '', ...rest] = word.text.slice(2).split('=')
    taking = name === option || (name.length > 3 && option.startsWith(name))
    if (taking && rest.length > 0) values.push({ ...word, text: rest.join('=') })
  }
  return values
}
