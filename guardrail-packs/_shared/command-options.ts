import type { Word } from './command.ts'
import { spend } from './work.ts'

/** How a tool reads its command line. Names are without dashes. */
export interface OptionTable {
  /** Short options that take a value, `-o value` or `-ovalue`: their letters. */
  readonly short?: string
  /** Short options that take a value only when it is attached, `-i.bak`: their letters. */
  readonly attached?: string
  /** Long options that take a value, `--name value` or `--name=value`. */
  readonly values?: readonly string[]
  /** Long options without a value, or with one only after `=`. Named here, they may be abbreviated. */
  readonly flags?: readonly string[]
  /** Options end at the first operand, as for wrappers. */
  readonly leading?: boolean
  /** Long options start with one dash (`-delete`), so clusters are not possible. */
  readonly singleDash?: boolean
  /** Long options of the table may also start with one dash: `-project_id p`. */
  readonly eitherDash?: boolean
}

export interface Option {
  /** With dashes, without value: `-f`, `--force`. Long names are lower-case and in full. */
  readonly name: string
  readonly value: Word | undefined
}

export interface Options {
  readonly options: readonly Option[]
  readonly operands: readonly Word[]
  /** The number of operands before `--`; `undefined` without it. */
  readonly dashesAfter: number | undefined
  /** An option among the words is unknown (`-$flags`). */
  readonly dynamic: boolean
  has(...names: readonly string[]): boolean
  /** The last value of one of the options. */
  value(...names: readonly string[]): Word | undefined
}

/**
 * Reads the words after an executable (or subcommand) like getopt: clusters, `--`, values attached
 * or separate, unambiguous abbreviations of the table's long names. Unknown options are flags.
 */
export function readOptions(words: readonly Word[], table: OptionTable): Options {
  const options: Option[] = []
  const operands: Word[] = []
  let dashesAfter: number | undefined
  let dynamic = false
  let at = 0
  spend(8 + 2 * words.length)

  function long(word: Word, dashes: number): void {
    spend(16)
    const equals = word.text.indexOf('=')
    const given = word.text.slice(dashes, equals === -1 ? undefined : equals)
    if (word.dynamic && unknown(given)) dynamic = true
    const name = fullName(table.singleDash ? given : given.toLowerCase(), table)
    const prefix = table.singleDash ? '-' : '--'
    let value = equals === -1 ? undefined : rest(word, equals + 1)
    if (equals === -1 && table.values?.includes(name)) value = words[++at]
    options.push({ name: prefix + name, value })
  }

  function cluster(word: Word): void {
    const text = word.text
    spend(2 * text.length)
    for (let i = 1; i < text.length; i++) {
      const letter = text[i] ?? ''
      if (word.dynamic && unknown(letter)) {
        dynamic = true
        return
      }
      if (table.short?.includes(letter)) {
        const value = i + 1 < text.length ? rest(word, i + 1) : words[++at]
        options.push({ name: `-${letter}`, value })
        return
      }
      const inline = table.attached?.includes(letter) && i + 1 < text.length
      options.push({ name: `-${letter}`, value: inline ? rest(word, i + 1) : undefined })
      if (inline) return
    }
  }

  for (; at < words.length; at++) {
    const word = words[at] as Word
    const text = word.text
    if (text === '--') {
      dashesAfter = operands.length
      operands.push(...words.slice(at + 1))
      break
    }
    if (text.length > 1 && text.charCodeAt(0) === DASH) {
      if (text.charCodeAt(1) === DASH) long(word, 2)
      else if (table.singleDash || (table.eitherDash && isLong(text, table))) long(word, 1)
      else cluster(word)
    } else if (table.leading) {
      operands.push(...words.slice(at))
      break
    } else operands.push(word)
  }

  return {
    options,
    operands,
    dashesAfter,
    dynamic,
    has: (...names) => options.some((option) => names.includes(option.name)),
    value: (...names) =>
      options.findLast((option) => names.includes(option.name) && option.value)?.value,
  }
}

const DASH = 45

function isLong(text: string, { values = [], flags = [] }: OptionTable): boolean {
  const [name = ''] = text.slice(1).split('=', 1)
  return values.includes(name) || flags.includes(name)
}

function unknown(text: string): boolean {
  return text.includes('$') || text.includes('`')
}

function rest(word: Word, from: number): Word {
  return { ...word, text: word.text.slice(from) }
}

function fullName(given: string, table: OptionTable): string {
  const { values = [], flags = [] } = table
  if (values.includes(given) || flags.includes(given) || given === '') return given
  if (table.singleDash) return given
  let full: string | undefined
  for (const names of [values, flags])
    for (const name of names)
      if (name.startsWith(given)) {
        if (full !== undefined) return given
        full = name
      }
  return full ?? given
}
