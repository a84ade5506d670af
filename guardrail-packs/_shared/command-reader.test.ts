import { describe, expect, test } from 'bun:test'
import type { GuardInput } from 'model-gateway/guardrail'
import { cpuMs } from './__fixtures__/cpu-time.ts'
import { readCommands, type SimpleCommand } from './command.ts'

function read(command: string | readonly string[]) {
  const input: GuardInput = { kind: 'command', phase: 'harness_pre_tool', command }
  const reading = readCommands(input)
  if (reading === undefined) throw new Error('a command is always read')
  return reading
}

/** Each command as one line; words with white space are between bars. */
function lines(command: string | readonly string[]): readonly string[] {
  return read(command).commands.map(line)
}

function line({ name, words }: SimpleCommand): string {
  return [...(name === undefined ? [] : [name]), ...words]
    .map(({ text }) => (/\s|^$/.test(text) ? `|${text}|` : text))
    .join(' ')
}

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are the shell's
const readings: readonly (readonly [title: string, text: string, commands: readonly string[]])[] = [
  ['lists and pipelines', 'a && b || c; d | e & f', ['a', 'b', 'c', 'd', 'e', 'f']],
  ['loops and branches', 'for i in 1 2; do if a; then b; else c; fi; done', ['a', 'b', 'c']],
  ['functions and groups', 'f() { a; }; (b); { c; }', ['a', 'b', 'c']],
  ['substitutions, inner first', 'a "$(b `c`)" <(d)', ['c', 'b `c`', 'd', 'a |$(b `c`)| <(d)']],
  ['defaults and sums', 'a ${x:-$(b)} $(( $(c) + 1 ))', ['b', 'c', 'a $(b) |$(( $(c) + 1 ))|']],
  ['redirect targets', 'a > "$(b)"', ['b', 'a']],
  ['heredoc bodies', 'cat <<E\n$(a)\nE', ['a', 'cat']],
  ['no quoted heredoc bodies', "cat <<'E'\n$(a)\nE", ['cat']],
  ['no comments', 'a # b; c', ['a']],
  ['quotes joined', `r''m "a b"'c' $'\\x41' \\d`, ['rm |a bc| A d']],
  ['continued lines', 'a -r\\\nf', ['a -rf']],
  ['braces', 'a {b,c{d,e}}f {1..3}', ['a bf cdf cef 1 2 3']],
  ['constants', 'x=rm; y="-r f"; $x $y "$y"', ['rm -r f |-r f|']],
  ['arrays', 'a=(b "c d"); "${a[@]}" ${a[0]}', ['b |c d| b']],
  ['no variable set twice', 'x=a; x=b; $x', ['$x']],
  ['changed constants', 'x=abc; ${x^^} ${x:1:1} ${x/b/z} ${x%c}', ['ABC b azc ab']],
  ['literal output as a word', '$(echo a b) `printf c`', ['echo a b', 'printf c', 'a b c']],
  ['IFS as white space', 'a${IFS}b', ['a b']],
  ['sh -c with its arguments', `sh -ec 'a "$1"' _ b`, ['sh -ec |a "$1"| _ b', 'a b']],
  ['eval', `eval a "'b c'"`, [`eval a |'b c'|`, 'a |b c|']],
  [
    'traps and aliases',
    `trap 'a' EXIT; alias x='b c'`,
    ['trap a EXIT', 'a', 'alias |x=b c|', 'b c'],
  ],
  ['a script from a pipe', 'echo a b | sh', ['echo a b', 'sh', 'a b']],
  ['a script in base64', 'echo YSBi | base64 -d | sh', ['echo YSBi', 'base64 -d', 'sh', 'a b']],
  ['a script from a heredoc', "bash -s x <<'E'\na\nE", ['bash -s x', 'a']],
  [
    'wrappers and their options',
    'sudo -u x env A=b timeout -k 1 5 a -b',
    [
      'sudo -u x env A=b timeout -k 1 5 a -b',
      'env A=b timeout -k 1 5 a -b',
      'timeout -k 1 5 a -b',
      'a -b',
    ],
  ],
  ['no wrapper that only asks', 'command -v a; sudo -l b', ['command -v a', 'sudo -l b']],
  [
    'find',
    'find . -exec a {} \\; -exec b {} +',
    ['find . -exec a {} ; -exec b {} +', 'a {}', 'b {}'],
  ],
  ['xargs with known lines', 'echo x | xargs -I@ a @', ['echo x', 'xargs -I@ a @', 'a {}', 'a x']],
  [
    'programs',
    `python3 -c 'import os; os.system("a b")'`,
    ['python3 -c |import os; os.system("a b")|', 'a b'],
  ],
]

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above

describe('reads', () => {
  for (const [title, text, commands] of readings)
    test(title, () => expect(lines(text)).toEqual([...commands]))
})

test('the elements of an argument vector are words', () => {
  expect(lines(['echo', '$(a); b', '*'])).toEqual(['echo |$(a); b| *'])
  expect(lines(['bash', '-lc', 'a; b'])).toEqual(['bash -lc |a; b|', 'a', 'b'])
})

test('a command knows its executable, its wrappers and its standard input', () => {
  const [producer, sudo, shell] = read('/usr/bin/CURL.exe x | sudo sh').commands
  expect(producer?.executable).toBe('curl')
  expect(shell?.nesting).toEqual(['sudo'])
  expect(shell?.stdin).toEqual({
    kind: 'pipe',
    producers: [producer as SimpleCommand],
    text: undefined,
  })
  expect(sudo?.executable).toBe('sudo')
  expect(read('ls | xargs rm').commands.at(-1)?.openEnded).toBe('appended')
  expect(read('$HOME/bin/a $x').commands[0]?.executable).toBe('a')
  expect(read('$x').commands[0]?.executable).toBe('')
})

test('calls of a program come with their strings', () => {
  const [command] = read(`node -e "fs.rmSync('a', { recursive: true }) // b()"`).commands
  expect(command?.calls).toEqual([
    { name: 'fs.rmSync', arguments: "'a', { recursive: true }", strings: ['a'] },
  ])
})

test('one input is read once', () => {
  const input: GuardInput = { kind: 'command', phase: 'harness_pre_tool', command: 'a' }
  expect(readCommands(input)).toBe(readCommands(input))
})

test('the command of shell-like tools is found', () => {
  const call = (tool: string, args: Record<string, string | string[]>): GuardInput => ({
    kind: 'tool_call',
    phase: 'generated_tool_call',
    server: undefined,
    tool,
    arguments: args,
  })
  expect(readCommands(call('Bash', { command: 'a b' }))?.commands.map(line)).toEqual(['a b'])
  expect(readCommands(call('runCommand', { cmd: 'a' }))?.commands.map(line)).toEqual(['a'])
  expect(readCommands(call('local_shell', { command: ['a', 'b c'] }))?.commands.map(line)).toEqual([
    'a |b c|',
  ])
  expect(
    readCommands(call('bash', { command: 'a', cmd: ['b', "c'd"] }))?.commands.map(line),
  ).toEqual(['a', "b c'd"])
  expect(readCommands(call('get_weather', { command: 'a' }))).toBeUndefined()
  expect(readCommands(call('bash', { city: 'a' }))).toBeUndefined()
})

test('text that does not parse is read as far as possible, and scanned for names', () => {
  const reading = read('a; for x in "rm -rf')
  expect(reading.unreadable).toBe('syntax')
  expect(reading.commands.map(line)).toContain('a')
  expect(reading.mentions(new Set(['rm']))).toBe(true)
  expect(reading.mentions(new Set(['git']))).toBe(false)
})

test.each([
  ['an alias that is a piece of a line', "alias -g L='| less'; rm a.txt"],
  ['a remote command with a gap to fill in', 'ssh host "ls <dir>"; rm a.txt'],
  ['a text that a variable completes', 'eval "case $1 in $patterns esac"; rm a.txt'],
  ['a substitution', 'cd `which <file>`; rm a.txt'],
])('only what does not parse is scanned for names: %s', (_, text) => {
  const reading = read(text)
  expect(reading.unreadable).toBe('syntax')
  expect(reading.mentions(new Set(['rm']))).toBe(false)
  expect(reading.mentions(new Set(['less', 'ls', 'case', 'which']))).toBe(true)
})

test('names are searched in a text as the shell would run it', () => {
  const encoded = Buffer.from('rm -rf /srv (').toString('base64')
  expect(read(`echo ${encoded} | base64 -d | sh`).mentions(new Set(['rm']))).toBe(true)
  expect(read('x=rm; eval "$x -rf /srv ("').mentions(new Set(['rm']))).toBe(true)
})

const overCaps: readonly (readonly [string, string, string])[] = [
  ['length', 'a '.repeat(40_000), 'too_long'],
  ['length in bytes', 'é'.repeat(40_000), 'too_long'],
  ['NUL', 'a\0', 'nul'],
  ['NUL that a shell would see', "sh -c $'a\\0b'; echo YQBi | base64 -d | sh", 'nul'],
  ['nesting', `${'( '.repeat(65)}a${' )'.repeat(65)}`, 'too_deep'],
  ['nested substitutions', `${'$('.repeat(65)}a${')'.repeat(65)}`, 'too_deep'],
  ['substitutions', '$(a) '.repeat(501), 'too_many'],
  ['texts read again', "sh -c 'a';".repeat(65), 'too_many'],
  ['braces', `echo ${'{a,b}'.repeat(9)}`, 'too_many'],
  ['large variables used often', `x="${'y '.repeat(9000)}"; ${'$x '.repeat(9000)}`, 'too_many'],
]

describe('stops at the limit of', () => {
  for (const [title, text, reason] of overCaps)
    test(title, () => {
      const took = cpuMs(() => expect(read(text).unreadable).toBe(reason as never))
      expect(took).toBeLessThan(1500)
    })
})

/** Texts within the length limits that would take a naive reader minutes. */
const costly = [
  `python3 -c '${'a('.repeat(30_000)}'`,
  Array.from({ length: 8_000 }, (_, at) => `$v${at}`).join(' '),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's
  `a=(${'x '.repeat(9_000)}); ${'"${a[@]}" '.repeat(4_000)}`,
  'ssh a '.repeat(10_000),
  'eval '.repeat(13_000),
  `f() { env ${'A=1 '.repeat(14_000)}"$@"; }; ${'f ls;'.repeat(100)}`,
  `f() { python3 -c '${'print(1);'.repeat(3_300)}' "$@"; }; ${'f ls;'.repeat(4_000)}`,
  `echo ${'{a,b}'.repeat(8)}${"'a'".repeat(4_000)}`,
  `echo ${'{a,b}'.repeat(8)}${"''".repeat(30_000)}`,
  '"$('.repeat(20_000),
  '<('.repeat(30_000),
]

test('no text of an accepted size takes long', () => {
  for (const text of costly) {
    expect(cpuMs(() => read(text))).toBeLessThan(2000)
  }
})
