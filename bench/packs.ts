import { readdirSync, readFileSync } from 'node:fs'
import type { GuardInput } from 'model-gateway/guardrail'
import type { JsonObject } from 'model-gateway/plugin'
import { parse } from 'yaml'
import { localPacks } from '../plugins/standard/local-packs.ts'
import type { Verdict } from './budgets.ts'
import { type Spread, spread } from './measure.ts'

const FOLDER = new URL('../guardrail-packs/', import.meta.url).pathname
/** Verdicts before the first measurement, because the engine is still compiling until then. */
const WARM_UP = 5000
const EVALUATIONS = 1000
const MIXED = 10_000
/** Maximum milliseconds that a pass waits for the machine to run at full speed. */
const LONGEST_MS = 8_000
/**
 * The machine runs at full speed while the yardstick takes at most this multiple of its minimum.
 */
const FULL_SPEED = 1.25
/** How often all inputs are judged before the second measurement. */
const ROUNDS = 10

const document = JSON.stringify(
  Array.from({ length: 60 }, (_, n) => ({
    id: `row-${n}`,
    tags: ['a', `t${n}`],
    of: { n, x: n / 2 },
  })),
)
/** Minimum time of the yardstick in this process. */
let fastest = Number.POSITIVE_INFINITY

const { packs } = localPacks

/**
 * Budget 10, in this process: all packs judge a command of 2 KiB, before and after the process has
 * judged all kinds of unusual inputs, because the engine optimises for the inputs that it has seen.
 * Then they judge the commands of their cases.
 */
export async function packVerdicts(passes: number): Promise<Verdict[]> {
  await localPacks.prepare()
  const script = readFileSync(`${FOLDER}_shared/__fixtures__/two-kib.sh`, 'utf8')
  const inputs = [...caseInputs(), ...labelledInputs()]
  const commands = inputs.filter((input) => input.kind === 'command')

  const clean = measureScript(script, passes)
  for (const input of overCaps) judge(input)
  for (let round = 0; round < ROUNDS; round++) for (const input of inputs) judge(input)
  for (const input of overCaps) judge(input)
  const after = measureScript(script, passes)
  const mixed = Array.from({ length: passes }, () =>
    took(() => {
      for (let i = 0; i < MIXED; i++) {
        const input = commands[i % commands.length]
        // A copy, because a parsed command is cached with its input object.
        if (input !== undefined) judge({ ...input })
      }
    }),
  )
  return [
    verdict('seven packs, command of 2 KiB, p50', clean.medians, 0.15),
    verdict('seven packs, command of 2 KiB, p99', clean.p99s, 1),
    verdict('the same after unusual commands, p50', after.medians, 0.15),
    verdict('the same after unusual commands, p99', after.p99s, 1),
    verdict('seven packs, 10,000 mixed commands', mixed, 2000),
  ]
}

function measureScript(script: string, passes: number) {
  const medians: number[] = []
  const p99s: number[] = []
  for (let i = 0; i < WARM_UP; i++) judge(command(script))
  for (let pass = 0; pass < passes; pass++) {
    const times = undisturbed(() => took(() => judge(command(script))))
    medians.push(times[EVALUATIONS / 2] ?? Number.NaN)
    p99s.push(times[EVALUATIONS * 0.99] ?? Number.NaN)
  }
  return { medians, p99s }
}

/**
 * Measurements in ascending order. One that was disturbed is repeated: a context switch shows that
 * another process had the CPU, and a slow yardstick that a neighbour on the same core or host used
 * a part of it. After `LONGEST_MS` the measurements with the fastest yardsticks are taken.
 */
function undisturbed(measureOnce: () => number): readonly number[] {
  const made: { readonly time: number; readonly yard: number }[] = []
  const endsAt = performance.now() + LONGEST_MS
  let before = yardstick()
  let quiet = 0
  while (quiet < EVALUATIONS && (performance.now() < endsAt || made.length < EVALUATIONS)) {
    const switches = process.resourceUsage().involuntaryContextSwitches
    const time = measureOnce()
    const after = yardstick()
    const switched = process.resourceUsage().involuntaryContextSwitches > switches
    const yard = Math.max(before, after)
    before = after
    fastest = Math.min(fastest, after)
    if (switched) continue
    made.push({ time, yard })
    if (yard <= fastest * FULL_SPEED) quiet++
  }
  return made
    .toSorted((a, b) => a.yard - b.yard)
    .slice(0, EVALUATIONS)
    .map(({ time }) => time)
    .toSorted((a, b) => a - b)
}

/** Milliseconds of a fixed amount of work, which show the present speed of the machine. */
function yardstick(): number {
  return took(() => void JSON.parse(document))
}

function verdict(title: string, values: readonly number[], limit: number): Verdict {
  const value: Spread = spread(values)
  return { budget: 10, title, unit: 'ms', limit, atMost: true, value, ok: value.median <= limit }
}

function command(text: string): GuardInput {
  return { kind: 'command', phase: 'harness_pre_tool', command: text }
}

function toolCall(server: string | undefined, tool: string, given: JsonObject): GuardInput {
  const identity = server === undefined ? undefined : { key: server, aliases: [] }
  return { kind: 'tool_call', phase: 'mcp_call', server: identity, tool, arguments: given }
}

function judge(input: GuardInput): void {
  for (const pack of packs) pack.evaluate(input)
}

/** Duration of a call in milliseconds. */
function took(run: () => void): number {
  const start = performance.now()
  run()
  return performance.now() - start
}

/** The inputs of the cases of all packs, alternating. */
function caseInputs(): readonly GuardInput[] {
  type Call = { readonly server?: string; readonly tool: string; readonly arguments?: JsonObject }
  return readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== '_shared')
    .flatMap(({ name }) => parse(readFileSync(`${FOLDER}${name}/cases.yaml`, 'utf8')))
    .map(({ input }: { readonly input: string | Call }) =>
      typeof input === 'string'
        ? command(input)
        : toolCall(input.server, input.tool, input.arguments ?? {}),
    )
}

function labelledInputs(): readonly GuardInput[] {
  type Labelled = {
    readonly command?: string
    readonly mcp?: {
      readonly server: string
      readonly tool: string
      readonly arguments: JsonObject
    }
  }
  const file = `${FOLDER}_shared/__fixtures__/labelled-cases.jsonl`
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const { command: text, mcp } = JSON.parse(line) as Labelled
      return mcp === undefined ? command(text ?? '') : toolCall(mcp.server, mcp.tool, mcp.arguments)
    })
}

/** Inputs above or close to each limit of the parser, in other scripts, and with syntax errors. */
const overCaps: readonly GuardInput[] = [
  `${'$('.repeat(10_000)}a${')'.repeat(10_000)}`,
  `${'$('.repeat(60)}a${')'.repeat(60)}`,
  `${'{ '.repeat(70)}a`,
  `echo ${'{a,b}'.repeat(9)}`,
  '$(a) '.repeat(501),
  'eval '.repeat(70),
  'a '.repeat(32_000),
  'a;'.repeat(32_000),
  'x=rm;'.repeat(10_000),
  'a '.repeat(500_000),
  "python3 - <<'EOF'\nprint('数据库')\nEOF",
  'git commit -m "fix: größe → 大小 🙂"',
  'a\0b',
  'for x in "rm -rf',
  'cat <<EOF',
].map(command)

if (import.meta.main) {
  const list = await packVerdicts(5)
  for (const { title, value, limit, ok } of list) {
    const figures = [value.median, value.min, value.max].map((ms) => ms.toFixed(3))
    console.log(
      `${title.padEnd(42)} ${figures.join(' / ')} ms, at most ${limit}: ${ok ? 'kept' : 'MISSED'}`,
    )
  }
  process.exitCode = list.every(({ ok }) => ok) ? 0 : 1
}
