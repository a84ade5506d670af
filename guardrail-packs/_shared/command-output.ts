import type { SimpleCommand, Stdin } from './command.ts'
import { readOptions } from './command-options.ts'
import type { Output } from './command-state.ts'
import { spend } from './work.ts'

/** What a command writes to standard output, if the line shows it. */
export function literalOutput(command: SimpleCommand): Output {
  switch (command.executable) {
    case 'echo':
      return echo(command)
    case 'printf':
      return printf(command)
    case ':':
    case 'true':
    case 'cd':
      return ''
    case 'which':
      return soleOperand(command)
    case 'command':
    case 'type':
      return readOptions(command.words, {}).has('-v', '-P', '-p') ? soleOperand(command) : undefined
    case 'cat':
    case 'tee':
      return command.executable === 'tee' || readsStdin(command)
        ? knownInput(command.stdin)
        : contentsOf(command)
    case 'rev':
      return givenInput(command)
        ?.split('\n')
        .map((line) => [...line].reverse().join(''))
        .join('\n')
    case 'base64':
    case 'gbase64':
    case 'openssl':
      return fromBase64(command)
    case 'xxd':
      return fromHex(command)
    default:
      return undefined
  }
}

/** The literal on a standard input. */
export function knownInput(stdin: Stdin): Output {
  if (stdin.kind === 'pipe' || stdin.kind === 'text') spend((stdin.text?.length ?? 0) >> 3)
  if (isTaken(stdin)) return undefined
  if (stdin.kind === 'pipe') return stdin.text
  return stdin.kind === 'text' && !stdin.dynamic ? stdin.text : undefined
}

/** Whether a shell around the command reads that output. */
export function isTaken(stdin: Stdin): boolean {
  return (stdin.kind === 'pipe' || stdin.kind === 'text') && stdin.taken === true
}

function readsStdin(command: SimpleCommand): boolean {
  return command.words.every((word) => word.text === '-' || word.text.startsWith('-'))
}

/** The literal that a command reads, unless it reads a file. */
function givenInput({ executable, words, stdin }: SimpleCommand): Output {
  const file =
    executable === 'openssl'
      ? words.find((_, at) => words[at - 1]?.text === '-in')
      : readOptions(words, { short: 'w', values: ['wrap'] }).operands.find(
          (word) => word.text !== '-',
        )
  return file === undefined ? knownInput(stdin) : file.content
}

/** The content of the files that it names, if the line has written them. */
function contentsOf({ words }: SimpleCommand): Output {
  let text = ''
  for (const word of words) {
    if (word.text.startsWith('-')) continue
    if (word.content === undefined) return undefined
    text += word.content
  }
  return text
}

function soleOperand(command: SimpleCommand): Output {
  const { operands } = readOptions(command.words, {})
  const [operand] = operands
  return operands.length === 1 && operand && !operand.dynamic ? operand.text : undefined
}

function echo(command: SimpleCommand): Output {
  let words = command.words
  let escapes = false
  let newline = '\n'
  while (words[0] !== undefined && /^-[neE]+$/.test(words[0].text)) {
    if (words[0].text.includes('e')) escapes = true
    if (words[0].text.includes('n')) newline = ''
    words = words.slice(1)
  }
  if (words.some((word) => word.dynamic)) return undefined
  spend(2 * words.length)
  const text = words.map((word) => word.text).join(' ')
  return (escapes ? decoded(text) : text) + newline
}

function printf(command: SimpleCommand): Output {
  let words = command.words
  if (words[0]?.text === '--') words = words.slice(1)
  const [format, ...values] = words
  if (format === undefined || words.some((word) => word.dynamic)) return undefined
  if (format.text === '-v') return ''
  let at = 0
  let written = ''
  do {
    const start = at
    spend(8 + format.text.length)
    written += decoded(format.text).replace(
      /%(?:%|[-+ #0]*(?:[1-9]\d*)?(?:\.\d+)?([a-zA-Z]))/g,
      (whole, kind: string | undefined) => {
        if (kind === undefined) return '%'
        const value = values[at++]?.text ?? ''
        spend(4 + (value.length >> 3))
        if (kind === 'b') return decoded(value)
        return kind === 's' || kind === 'd' || kind === 'q' ? value : whole
      },
    )
    if (at === start) break
  } while (at < values.length && written.length < 65_536)
  return written
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  e: '\x1b',
  '\\': '\\',
}

function decoded(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|([ntrabfve\\]))/g,
    (_, hex: string, unicode: string, octal: string, letter: string) => {
      if (letter !== undefined) return escapes[letter] ?? ''
      const code =
        octal === undefined ? Number.parseInt(hex ?? unicode, 16) : Number.parseInt(octal, 8)
      return String.fromCharCode(code)
    },
  )
}

function fromBase64(command: SimpleCommand): Output {
  const words = command.words.map((word) => word.text)
  if (command.executable === 'openssl') {
    if (!words.includes('-d') || !words.some((word) => /^-?base64$|^-a$/.test(word)))
      return undefined
  } else if (!words.some((word) => /^(-[iw]*[dD]i?|--d(e(c(o(de?)?)?)?)?)$/.test(word))) {
    return undefined
  }
  const text = givenInput(command)
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8')
}

function fromHex(command: SimpleCommand): Output {
  const words = command.words.map((word) => word.text).join('')
  const text = knownInput(command.stdin)
  if (text === undefined || !/^(-r-p|-p-r|-rp|-pr|-r-ps|-ps-r)$/.test(words)) return undefined
  return Buffer.from(text.replace(/[^0-9a-fA-F]/g, ''), 'hex').toString('utf8')
}
