import { createTestDatabase, testServer } from '../test/harness/database.ts'
import { adaKey } from '../test/harness/gateway.ts'
import { spawnGateway } from '../test/harness/process.ts'
import { MODEL, upstreamProvider } from './gateways.ts'
import { cpuClock, startService } from './machine.ts'
import { sendLoad, spread } from './measure.ts'
import { chatBody } from './rows.ts'

/** Many and short: how fast the machine is changes from moment to moment, for neighbours in a pass little. */
const PASSES = 250
const REQUESTS = 800
const WARM_UP = 20_000
const CONCURRENCY = 32

interface Target {
  readonly name: string
  readonly url: string
  readonly pid: number
}

/** How much more CPU a variant takes than the first one: microseconds a request. */
export interface Difference {
  readonly name: string
  readonly median: number
  /** With 95 % certainty it lies between these. */
  readonly low: number
  readonly high: number
  /** What a request costs without the variant. */
  readonly of: number
}

/** What a gateway needs to serve chat, and nothing besides. */
const served = ['identity', 'audit-log', 'api-chat', 'generic-compat'].map(
  (name) => `builtin:${name}`,
)

/** An ungoverned gateway with one model, so that next to nothing but the parts in question costs. */
export function bareConfig(
  upstreamUrl: string,
  parts: { plugins: readonly string[]; models?: readonly string[] },
) {
  const route = (model: string) => ({
    id: model,
    routes: [{ provider: 'upstream', upstream_model: 'gpt-4.1-mini' }],
  })
  return {
    server: { ungoverned: true },
    plugins: [...served, ...parts.plugins].map((use) => ({
      use,
    })),
    providers: [upstreamProvider(upstreamUrl)],
    models: [MODEL, ...(parts.models ?? [])].map(route),
  }
}

/**
 * Compares gateways that take turns: what counts is how far they differ within a pass, because a
 * machine that is busy with other things is so for all of them. Prints a line for each.
 */
export async function comparePaired(
  variants: Readonly<Record<string, (upstreamUrl: string) => Record<string, unknown>>>,
): Promise<readonly Difference[]> {
  await using started = new AsyncDisposableStack()
  const server = await testServer()
  started.defer(server.close)
  const upstream = await startService('./upstream.ts')
  started.defer(upstream.stop)
  const targets: Target[] = []
  for (const [name, config] of Object.entries(variants)) {
    const database = await createTestDatabase()
    started.defer(database.drop)
    const gateway = await spawnGateway(config(upstream.url), { databaseUrl: database.url })
    started.defer(async () => {
      await gateway.end()
      await gateway.remove()
    })
    targets.push({ name, url: `${gateway.url}/v1/chat/completions`, pid: gateway.pid })
  }

  const micros = new Map<string, number[]>(targets.map(({ name }) => [name, []]))
  for (const target of targets) await microsOf(target, WARM_UP)
  for (let pass = 0; pass < PASSES; pass++) {
    // Each of them comes first, second and last equally often, after each of the others.
    const turned = targets.map((_, i) => targets[(i + pass) % targets.length] as Target)
    for (const target of pass % 2 === 0 ? turned : turned.toReversed()) {
      micros.get(target.name)?.push(await microsOf(target, REQUESTS))
    }
  }

  const [[first = '', without = []] = [], ...others] = [...micros]
  const of = spread(without).median
  console.log(`${first.padEnd(14)} ${of.toFixed(1)} µs of CPU a request`)
  return others.map(([name, values]) => {
    const differences = values.map((value, pass) => value - (without[pass] ?? Number.NaN))
    const { median, low, high } = medianWithin(differences)
    const figures = [spread(values).median, median, low, high].map((each) => each.toFixed(1))
    console.log(
      `${name.padEnd(14)} ${figures[0]} µs of CPU a request, ${figures[1]} more (95 %: ${figures[2]} to ${figures[3]})`,
    )
    return { name, median, low, high, of }
  })
}

/** CPU time a request. */
async function microsOf({ name, url, pid }: Target, count: number): Promise<number> {
  const headers = { authorization: `Bearer ${adaKey}` }
  const cpu = cpuClock(pid)
  const load = { url, headers, body: chatBody(), count, concurrency: CONCURRENCY }
  const { failures, failure } = await sendLoad(load)
  if (failures > 0) throw new Error(`${name}: ${failures} failures: ${failure?.slice(0, 200)}`)
  return cpu() / count
}

/**
 * The median and where it lies with 95 % certainty, whatever the values' distribution: between the two
 * that so many of them lie below or above as a fair coin rarely falls on one side.
 */
export function medianWithin(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const { length } = sorted
  const beyond = Math.floor((length - 1.96 * Math.sqrt(length)) / 2)
  const at = (index: number) => sorted[index] ?? Number.NaN
  return { median: spread(values).median, low: at(beyond), high: at(length - 1 - beyond) }
}
