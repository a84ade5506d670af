import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type GuardInput,
  type GuardrailPack,
  guardPhases,
  type PackMatch,
} from 'model-gateway/guardrail'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { parse } from 'yaml'

export interface GuardrailPackKit {
  readonly pack: GuardrailPack
  /** The pack's folder, with its `cases.yaml`: a list of PackCase. */
  readonly folder: string
  /** How many cases the pack shows at least. */
  readonly atLeast: number
  /** The rule for what cannot be read; absent for a pack that reads no commands. */
  readonly uninspectable?: string
}

/** One line of a pack's `cases.yaml`. */
export interface PackCase {
  /** A command, an argument vector, or a tool call. */
  readonly input:
    | string
    | readonly string[]
    | {
        /** The server's key in the registry. */
        readonly server?: string
        readonly aliases?: readonly string[]
        readonly tool: string
        readonly arguments?: JsonObject
      }
  readonly verdict: 'deny' | 'allow'
  /** The id of the rule that denies. */
  readonly rule?: string
}

/** What every pack promises, whatever its rules are. Defines the tests of one pack. */
export function testGuardrailPack(kit: GuardrailPackKit): void {
  const { pack } = kit
  const cases: readonly PackCase[] = parse(readFileSync(join(kit.folder, 'cases.yaml'), 'utf8'))
  const rules = new Map(pack.rules.map((rule) => [rule.id, rule]))
  const denied = cases.filter((each) => each.verdict === 'deny')

  function expectListed(match: PackMatch | undefined): void {
    if (match === undefined) return
    const rule = rules.get(match.ruleId)
    expect(rule).toBeDefined()
    if (rule === undefined) return
    const { id: _, ...told } = rule
    // A match may say more than its rule does, such as which cap was met.
    expect(match.description).toStartWith(rule.description)
    expect(match).toEqual({
      packId: pack.id,
      ruleId: rule.id,
      matchedField: match.matchedField,
      ...told,
      description: match.description,
    })
  }

  describe(`guardrail pack ${pack.id}`, () => {
    test('names itself, its phases and its rules', () => {
      expect(pack.id).toMatch(/^[a-z]+\.[a-z0-9_]+$/)
      expect(pack.version).toMatch(/^\d+\.\d+\.\d+$/)
      expect(pack.summary).not.toBe('')
      expect(pack.phases.length).toBeGreaterThan(0)
      for (const phase of pack.phases) expect(guardPhases).toContain(phase)
      expect(rules.size).toBe(pack.rules.length)
      for (const rule of pack.rules) {
        expect(rule.id).toMatch(/^[a-z][a-z0-9-]*$/)
        expect(rule.reasonCode).toMatch(/^[a-z_]+\.[a-z_]+$/)
        expect(rule.description.length).toBeGreaterThan(10)
        expect(rule.saferAction.length).toBeGreaterThan(10)
      }
    })

    test('judges its cases as they say', () => {
      const wrong = cases.flatMap((each) => {
        const match = pack.evaluate(inputOf(each))
        expectListed(match)
        const verdict = match === undefined ? 'allow' : 'deny'
        const right = verdict === each.verdict && match?.ruleId === each.rule
        return right ? [] : [{ ...each, was: match?.ruleId ?? 'allow' }]
      })
      expect(wrong).toEqual([])
    })

    test('shows enough cases, half of them allowed, and one of each rule', () => {
      expect(cases.length).toBeGreaterThanOrEqual(kit.atLeast)
      const allowed = cases.length - denied.length
      expect(Math.min(allowed, denied.length)).toBeGreaterThanOrEqual(cases.length * 0.4)
      const inputs = cases.map((each) => JSON.stringify(each.input))
      expect(inputs.filter((input, at) => inputs.indexOf(input) !== at)).toEqual([])
      const shown = new Set(denied.map((each) => each.rule))
      const unshown = [...rules.keys()].filter((id) => !shown.has(id) && id !== kit.uninspectable)
      expect(unshown).toEqual([])
    })

    test('is pure: frozen input, the same verdict again, and explained the same', () => {
      for (const each of cases) {
        const match = pack.evaluate(frozen(inputOf(each)))
        const input = inputOf(each)
        expect(pack.evaluate(input)).toEqual(match)
        expect(pack.evaluate(input)).toEqual(match)
        const explanation = pack.explain(input)
        expect(explanation.match).toEqual(match)
        expect(() => JSON.stringify(explanation.reading)).not.toThrow()
      }
    })

    test('never quotes what it was shown', () => {
      for (const each of denied) {
        const text = JSON.stringify(pack.evaluate(marked(inputOf(each))) ?? null)
        expect(text).not.toContain(canary)
      }
    })

    test('stays quiet about what has nothing for it', () => {
      for (const input of harmless) expect(pack.evaluate(input)).toBeUndefined()
    })

    test('never throws, whatever it is given', () => {
      for (const input of strange()) {
        const match = pack.evaluate(input)
        expectListed(match)
        expect(pack.explain(input).match).toEqual(match)
      }
    })

    if (kit.uninspectable !== undefined)
      test('gives up in time on what is too large, too deep or holds NUL', () => {
        for (const input of oversized()) {
          const start = performance.now()
          expect(pack.evaluate(input)?.ruleId).toBe(kit.uninspectable)
          expect(performance.now() - start).toBeLessThan(500)
        }
      })
  })
}

function inputOf({ input }: PackCase): GuardInput {
  const phase = 'harness_pre_tool'
  if (typeof input === 'string') return { kind: 'command', phase, command: input }
  if (!('tool' in input)) return { kind: 'command', phase, command: [...input] }
  const server =
    input.server === undefined ? undefined : { key: input.server, aliases: input.aliases ?? [] }
  const args = structuredClone(input.arguments ?? {})
  return { kind: 'tool_call', phase: 'mcp_call', server, tool: input.tool, arguments: args }
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) frozen(part)
    Object.freeze(value)
  }
  return value
}

const canary = 'canary-5d1f7c'

function marked(input: GuardInput): GuardInput {
  if (input.kind === 'tool_call')
    return { ...input, arguments: { ...input.arguments, [canary]: canary } }
  const command =
    typeof input.command === 'string'
      ? `echo ${canary}; ${input.command}\n# ${canary}`
      : [...input.command, canary]
  return { ...input, command }
}

function command(text: string | readonly string[]): GuardInput {
  return { kind: 'command', phase: 'harness_pre_tool', command: text }
}

function call(tool: string, args: JsonObject, server?: string): GuardInput {
  return {
    kind: 'tool_call',
    phase: 'mcp_call',
    server: server === undefined ? undefined : { key: server, aliases: [] },
    tool,
    arguments: args,
  }
}

const harmless: readonly GuardInput[] = [
  command(''),
  command([]),
  command('ls -la && cat README.md | head -20'),
  command(['ls', '-la']),
  call('get_weather', { city: 'Oslo' }, 'weather'),
  call('bash', { command: 'make test' }),
]

function strange(): readonly GuardInput[] {
  const texts = [
    '"',
    "'",
    '`',
    '$(',
    '${',
    '<<EOF',
    'cat <<',
    '((',
    '[[',
    'if',
    'case x in',
    '}',
    ';;',
    '\ud800',
    '\u202e rm',
    '\\',
    '&&',
    '|',
    'a'.repeat(60_000),
    '{a,b}'.repeat(40),
    '\n'.repeat(5_000),
    'sh -c \'sh -c "',
    "eval eval eval '",
    'x=$x; $x',
    'f() { f; }; f',
  ]
  const values: JsonValue[] = [
    null,
    0,
    true,
    '',
    [],
    {},
    [null, 1, {}],
    { command: { command: [] } },
  ]
  return [
    ...texts.map(command),
    ...texts.map((text) => command([text, text])),
    ...values.flatMap((value) =>
      ['bash', 'run_command', 'execute_sql', 'pages.update', '', ':::', '__proto__'].map((tool) =>
        call(tool, { command: value, cmd: value, sql: value, query: value, input: value }, 'a.b/c'),
      ),
    ),
  ]
}

function oversized(): readonly GuardInput[] {
  return [
    command('x'.repeat(1_000_000)),
    command(['echo', 'x'.repeat(1_000_000)]),
    command(`echo ${'$('.repeat(10_000)}ls${')'.repeat(10_000)}`),
    command(`echo ${'`ls` '.repeat(1_000)}`),
    command('echo a\0b'),
    command(['echo', 'a\0b']),
    call('bash', { command: 'x'.repeat(1_000_000) }),
  ]
}
