import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { type ParsedScript, parse, type SyntaxNode } from 'unbash'
import { parse as parseYaml } from 'yaml'
import { coreShell } from '../core-shell/index.ts'
import { eachChild } from './command-assignment.ts'

/** Whether the parser reports an error where bash does; bash reads backticks and heredocs later. */
function reportsError(text: string): boolean {
  let found = false
  function visit(node: SyntaxNode | ParsedScript): void {
    if (found || node.type === 'HereDocBody') return
    if ('errors' in node && (node.errors?.length ?? 0) > 0) found = true
    if (node.type === 'CommandExpansion' && node.text.startsWith('`')) return
    eachChild(node, visit)
  }
  visit(parse(text))
  return found
}

/** The results of `bash -n` for all texts, in one run. */
async function bashReportsErrors(texts: readonly string[]): Promise<readonly boolean[]> {
  const driver = `while IFS= read -r -d '' text; do
    bash -O extglob -n -c "$text" 2>/dev/null && echo 0 || echo 1
  done`
  const bash = Bun.spawn(['bash', '-c', driver], {
    stdin: new Blob(texts.map((text) => `${text}\0`)),
    stdout: 'pipe',
  })
  const answer = await new Response(bash.stdout).text()
  return answer
    .trim()
    .split('\n')
    .map((line) => line === '1')
}

/** Each command in the packs' cases. */
function collected(): readonly string[] {
  const packs = join(import.meta.dir, '..')
  return readdirSync(packs)
    .filter((folder) => folder !== '_shared')
    .flatMap((folder) => parseYaml(readFileSync(join(packs, folder, 'cases.yaml'), 'utf8')))
    .map((each: { readonly input: unknown }) => each.input)
    .filter((input) => typeof input === 'string')
}

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are the shell's
const words = fc.constantFrom(
  'ls',
  '-la',
  'a b',
  '"$x"',
  "'it is'",
  '"a $(date) b"',
  '${x:-y}',
  '${x//a/b}',
  '$(( 1 + 2 ))',
  '`date`',
  '<(ls)',
  '*.txt',
  '{a,b}',
  "$'\\n'",
  '\\;',
  '#no',
  'x=1',
  '~/x',
  '$#',
  '""',
)
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above
const redirects = fc.constantFrom('', '', '> out', '2>&1', '<<< "x"', '>> log', '< in', '&> all')
const simple = fc
  .tuple(
    fc.constantFrom('echo', 'git', 'rm', 'A=b env', 'x=(1 2);ls'),
    fc.array(words, { maxLength: 3 }),
    redirects,
  )
  .map(([name, rest, redirect]) => [name, ...rest, redirect].join(' '))
const { line } = fc.letrec<{ line: string }>((tie) => ({
  line: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'line' },
    simple,
    fc
      .tuple(
        tie('line'),
        fc.constantFrom(' && ', ' || ', ' | ', '; ', '\n', ' & ', ' |& '),
        tie('line'),
      )
      .map((parts) => parts.join('')),
    tie('line').map((inner) => `( ${inner} )`),
    tie('line').map((inner) => `{ ${inner}\n}`),
    tie('line').map((inner) => `if ${inner}\nthen ${inner}\nelse ls\nfi`),
    tie('line').map((inner) => `for i in a b; do ${inner}\ndone`),
    tie('line').map((inner) => `while ls; do ${inner}\ndone`),
    tie('line').map((inner) => `case $x in a|b) ${inner}\n;; *) ls;; esac`),
    tie('line').map((inner) => `f() { ${inner}\n}`),
    tie('line').map((inner) => `echo "$( ${inner} )"`),
    tie('line').map((inner) => `cat <<EOF\n${inner}\nEOF`),
    tie('line').map((inner) => `cat <<'EOF'\n${inner}\nEOF`),
    tie('line').map((inner) => `! ${inner}`),
  ),
}))
/** A line with a typing error, except for the ones in `gaps`. */
const broken = fc
  .tuple(
    line.filter((text) => !text.includes('<<E') && !text.includes("<<'E") && !text.includes('$((')),
    fc.nat(),
    fc.constantFrom('', '', '"', "'", ')', '}', ';', '|', '$(', 'fi', ' then '),
  )
  .map(([text, at, slip]) => {
    const where = at % (text.length + 1)
    return text.slice(0, where) + slip + text.slice(where + (slip === '' ? 1 : 0))
  })
  .filter((text) => !/\n\s*;(?!;)|(?<!<)<<(?!<)/.test(text))

/** Known differences: texts that bash refuses and the parser reads, and vice versa. */
const gaps: readonly { readonly text: string; readonly bash: boolean }[] = [
  { text: 'cat <<EO"F\nls\nEOF', bash: true },
  { text: '( ! git (2>&1 )', bash: true },
  { text: 'while ls; do ls\n;done', bash: true },
  { text: 'ls| !(a|b)', bash: false },
  { text: '! && ls', bash: true },
  { text: 'echo $[1+', bash: true },
  { text: '[[ -f ]]', bash: false },
  { text: 'echo "$( ls $(( 1 +) 2 )) )"', bash: false },
]

test('lists the known differences from bash -n', async () => {
  const bash = await bashReportsErrors(gaps.map(({ text }) => text))
  expect(gaps.map(({ text }, at) => ({ text, bash: bash[at] }))).toEqual([...gaps])
  expect(gaps.map(({ text }) => reportsError(text))).toEqual(gaps.map((gap) => !gap.bash))
})

/** The same forms with a command that must not pass: before, inside, after. */
const dangerousGaps: readonly string[] = [
  'reboot\ncat <<EO"F\nls\nEOF',
  'reboot; cat <<EO"F\nls\nEOF',
  '( ! reboot (2>&1 )',
  'reboot && ( ! git (2>&1 )',
  'while ls; do reboot\n;done',
  'while reboot; do ls\n;done',
  'reboot| !(a|b)',
  'ls| !(reboot|b)',
  'ls| !(a|b); reboot',
  'ls| !(a|b) | sh',
  '! && reboot',
  'reboot; ! && ls',
  'reboot; echo $[1+',
  'echo "$(reboot)" $[1+',
  '[[ -f ]] && reboot',
  'reboot || [[ -f ]]',
  'if [[ -f ]]; then reboot; fi',
  'echo "$( reboot $(( 1 +) 2 )) )"',
  'echo "$( ls $(( 1 +) 2 )) )"; reboot',
]

test('none of the known differences lets a command through', () => {
  const verdicts = dangerousGaps.map((command) => ({
    command,
    denied:
      coreShell.evaluate({ kind: 'command', phase: 'harness_pre_tool', command }) !== undefined,
  }))
  expect(verdicts.filter(({ denied }) => !denied)).toEqual([])
})

test('reports an error exactly where bash -n does', async () => {
  const generated = fc.sample(fc.oneof(line, broken, broken), { numRuns: 1100, seed: 20_240_607 })
  const texts = [...new Set([...collected(), ...generated])].filter((text) => !text.includes('\0'))
  expect(texts.length).toBeGreaterThanOrEqual(2000)

  const bash = await bashReportsErrors(texts)
  expect(bash.length).toBe(texts.length)
  expect(bash.filter(Boolean).length).toBeGreaterThan(200)
  const differences = texts
    .map((text, at) => ({ text, ours: reportsError(text), bash: bash[at] }))
    .filter(({ ours, bash }) => ours !== bash)
  expect(differences).toEqual([])
}, 120_000)
