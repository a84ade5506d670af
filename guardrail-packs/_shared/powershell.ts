import type { SimpleCommand, Word } from './command.ts'
import type { Nested } from './command-nested.ts'
import { knownInput } from './command-output.ts'
import { literal, noCommands } from './command-state.ts'
import { readPowerShell, type Statement } from './powershell-reader.ts'
import { aliases, keywords, switches, writers } from './powershell-tables.ts'

/** What `pwsh` or `powershell` gets on its command line or standard input. */
export function nestedInPowerShell({ words, stdin }: SimpleCommand): readonly Nested[] {
  const at = words.findIndex(({ text }) => /^[-/](?:c|co\w*|e|ec|en\w*|f|fi\w*)$/i.test(text))
  const option = words[at]?.text.slice(1).toLowerCase() ?? ''
  const given = words.slice(at + 1)
  if (option.startsWith('f')) return none
  const operands = at === -1 ? words.filter(({ text }) => !/^[-/]/.test(text)) : given
  const [first] = operands
  if (first === undefined || first.text === '-') {
    const input = knownInput(stdin)
    return input === undefined ? none : powerShellCommands(input)
  }
  if (option.startsWith('e')) return powerShellCommands(decoded(first.text))
  return powerShellCommands(operands.map(({ text }) => text).join(' '))
}

const none: readonly Nested[] = []

/** `-EncodedCommand`: UTF-16 in base64. */
function decoded(text: string): string {
  return Buffer.from(text, 'base64').toString('utf16le')
}

/** The commands of a PowerShell text, by the names that packs know. */
function powerShellCommands(text: string): readonly Nested[] {
  return readPowerShell(text).flatMap(nestedOf)
}

function nestedOf(statement: Statement): readonly Nested[] {
  const { words, targets, fed, isValue } = statement
  const written = targets.map((word) => ({ argv: [tee, word] }))
  const [name, ...rest] = words
  if (name === undefined) return written
  const called = name.text.toLowerCase().replace(/^(?:microsoft\.powershell\.\w+\\)/, '')
  if (keywords.has(called)) return written
  if (isValue) return [...written, ...dotNet(called, statement)]
  // Only shows what it would do.
  if (rest.some(({ text }) => /^-(?:wi|whatif)(?::\$?true)?$/i.test(text))) return none
  const cmdlet = aliases.get(called) ?? called
  const own = { argv: [cmdlet === called ? name : literal(cmdlet), ...rest] }
  switch (cmdlet) {
    case 'remove-item': {
      const removal = { argv: [literal(cmdlet), ...rest.map(recursing)], openEnded: fed }
      // On systems other than Windows, `rm` is the program.
      const program = { argv: [name, ...rest], openEnded: fed }
      return called === cmdlet ? [...written, removal] : [...written, removal, program]
    }
    case 'invoke-expression':
      return [...written, ...invoked(statement)]
    case 'start-process':
      return [...written, started(rest)]
    case 'clear-content':
      return [...written, { argv: ['truncate', '--size=0'].map(literal).concat(operandsOf(rest)) }]
    default:
      return [...written, ...writes(cmdlet, rest), own]
  }
}

const tee = literal('tee')

/** `-r`, `-rec`, `-Recurse:$true` as the whole word; `-Recurse:$false` does not count. */
function recursing(word: Word): Word {
  const { 1: value } = /^-r(?:e(?:c\w*)?)?(?::(.*))?$/is.exec(word.text) ?? [undefined, 'none']
  if (value === 'none' || /^\$?false$/i.test(value ?? '')) return word
  return literal('-Recurse')
}

/** Known text is read as PowerShell again. */
function invoked({ words, fed }: Statement): readonly Nested[] {
  const given = words.slice(1).filter(({ text }) => !/^-c\w*$/i.test(text))
  const [text] = given
  const argv = [literal('invoke-expression'), ...given]
  if (fed) return [{ argv: [...argv, unknown] }]
  return text === undefined || text.dynamic ? [{ argv }] : powerShellCommands(text.text)
}

const unknown: Word = { text: '$input', dynamic: true, quoted: false, produced: noCommands }

/** `Start-Process git -ArgumentList 'push','--force'`. */
function started(words: readonly Word[]): Nested {
  const argv = words
    .filter(
      ({ text }) => !/^-(?:file\w*|arg\w*|wait|nonewwindow|passthru|verb|windowstyle)$/i.test(text),
    )
    .flatMap(({ text }) => text.split(/\s+/).map(literal))
  return { argv }
}

/** The file that a cmdlet writes, as `tee` would. */
function writes(cmdlet: string, words: readonly Word[]): readonly Nested[] {
  const writer = writers.get(cmdlet)
  if (writer === undefined) return none
  const named = words.findIndex(({ text }) => writer.named.test(text))
  const target = named === -1 ? operandsOf(words)[writer.at] : words[named + 1]
  const appends = cmdlet === 'add-content' || words.some(({ text }) => /^-a(?:pp\w*)?$/i.test(text))
  if (target === undefined) return none
  return [{ argv: appends ? [tee, literal('-a'), target] : [tee, target] }]
}

/** Words that are neither a parameter nor its value. */
function operandsOf(words: readonly Word[]): readonly Word[] {
  return words.filter(({ text }, at) => {
    const before = words[at - 1]?.text ?? ''
    const isValue = before.startsWith('-') && !switches.has(before.toLowerCase())
    return !text.startsWith('-') && !(isValue && !/path$/i.test(before))
  })
}

/** `[IO.Directory]::Delete('x', $true)`, and `$_.Delete()` for each item. */
function dotNet(name: string, { words, fed }: Statement): readonly Nested[] {
  const removal = literal('remove-item')
  if (/\[(?:system\.)?io\.directory\]::delete$/.test(name))
    return words.some(({ text }) => /\$?true\b/i.test(text))
      ? [{ argv: [removal, literal('-Recurse')] }]
      : none
  return fed && /^\$_\.delete$/.test(name) ? [{ argv: [removal], openEnded: true }] : none
}
