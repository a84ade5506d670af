import { createTestDatabase } from '../test/harness/database.ts'
import { adaKey } from '../test/harness/gateway.ts'
import { spawnGateway } from '../test/harness/process.ts'
import { MODEL } from './gateways.ts'
import { startService } from './machine.ts'
import { measure, type Row, spread, type Target } from './measure.ts'
import { chatBody } from './rows.ts'

/**
 * What a route costs that no policy covers: CPU microseconds a request of a gateway without the guardrail
 * plugin, of one with it but without a policy, and of one whose policies cover another route. All three are
 * ungoverned, so that next to nothing else is in the figures. The three take turns, and what counts is how far
 * they differ within a pass: a machine that is busy with other things is so for all three. Run it: `bun bench/guard.ts`.
 */
const PASSES = 25
/** How wide the answer may be, as a share of what a request costs. */
const PRECISION = 0.1
const row: Row = {
  id: 'buffered',
  title: 'buffered',
  body: chatBody(),
  count: 4000,
  warmUp: 15_000,
  concurrency: 32,
}
const packs = ['core.shell', 'core.git', 'core.filesystem'] as const
const withGuard = ['guardrails', 'core-shell', 'core-git', 'core-filesystem']

type Variant = 'absent' | 'no policy' | 'another route'

function config(variant: Variant, upstreamUrl: string) {
  const plugins = ['identity', 'generic-compat', ...(variant === 'absent' ? [] : withGuard)]
  const policy = { enabled: true, mode: 'deny', packs }
  const route = (model: string) => ({
    id: model,
    routes: [{ provider: 'upstream', upstream_model: 'gpt-4.1-mini' }],
  })
  return {
    server: { ungoverned: true },
    plugins: plugins.map((name) => ({ use: `builtin:${name}` })),
    providers: [
      {
        id: 'upstream',
        type: 'generic_compat',
        base_url: `${upstreamUrl}/v1`,
        auth: { mode: 'bearer', token: 'literal.upstream' },
        pricing_provider_id: 'openai',
      },
    ],
    models: [route(MODEL), route('guarded')],
    ...(variant === 'another route'
      ? { guardrails: { model_routes: { 'guarded/upstream/gpt-4.1-mini': policy } } }
      : {}),
  }
}

await using started = new AsyncDisposableStack()
const upstream = await startService('./upstream.ts')
started.defer(upstream.stop)
const targets: Target[] = []
for (const variant of ['absent', 'no policy', 'another route'] as const) {
  const database = await createTestDatabase()
  started.defer(database.drop)
  const gateway = await spawnGateway(config(variant, upstream.url), { databaseUrl: database.url })
  started.defer(async () => {
    await gateway.end()
    await gateway.remove()
  })
  const headers = { authorization: `Bearer ${adaKey}` }
  const url = `${gateway.url}/v1/chat/completions`
  targets.push({ name: variant, url, pid: gateway.pid, headers })
}

const micros = new Map<string, number[]>(targets.map(({ name }) => [name, []]))
for (const target of targets) await measure({ ...row, count: row.warmUp }, target, 0, [])
for (let pass = 0; pass < PASSES; pass++) {
  // Each of them comes first, second and last equally often, after each of the others.
  const turned = targets.map((_, i) => targets[(i + pass) % targets.length] ?? targets[0])
  for (const target of pass % 2 === 0 ? turned : turned.toReversed()) {
    if (target === undefined) continue
    const { cpuMicros } = await measure(row, target, pass, [])
    micros.get(target.name)?.push(cpuMicros)
  }
}

const without = micros.get('absent') ?? []
for (const [name, values] of micros) {
  const cpu = spread(values)
  const text = `${name.padEnd(14)} ${cpu.median.toFixed(1)} µs of CPU a request`
  if (name === 'absent') {
    console.log(text)
    continue
  }
  const differences = values.map((value, pass) => value - (without[pass] ?? Number.NaN))
  const { median, low, high } = medianWithin(differences)
  const costs = low > 0
  const figures = [median, low, high].map((each) => each.toFixed(1))
  const precise = high - low < spread(without).median * PRECISION
  const answer = costs ? 'COSTS' : precise ? 'no measurable cost' : 'UNDECIDED, too noisy'
  console.log(`${text}, ${figures[0]} more (95 %: ${figures[1]} to ${figures[2]}): ${answer}`)
  if (costs || !precise) process.exitCode = 1
}

/**
 * The median and where it lies with 95 % certainty, whatever the differences' distribution: between the two
 * that so many of them lie below or above as a fair coin rarely falls on one side.
 */
function medianWithin(differences: readonly number[]) {
  const sorted = differences.toSorted((a, b) => a - b)
  const { length } = sorted
  const beyond = Math.floor((length - 1.96 * Math.sqrt(length)) / 2)
  const at = (index: number) => sorted[index] ?? Number.NaN
  return { median: at((length - 1) / 2), low: at(beyond), high: at(length - 1 - beyond) }
}
