import { createTestDatabase, testServer } from '../test/harness/database.ts'
import { adaKey } from '../test/harness/gateway.ts'
import { spawnGateway } from '../test/harness/process.ts'
import { MODEL, upstreamProvider } from './gateways.ts'
import { cpuClock, startService } from './machine.ts'
import { sendLoad, spread } from './measure.ts'
import { chatBody } from './rows.ts'

/**
 * Many and short, because the speed of the machine varies over time, but little within one pass.
 */
const PASSES = 250
const REQUESTS = 800
const WARM_UP = 20_000
const CONCURRENCY = 32

interface Target {
  readonly name: string
  readonly url: string
  readonly pid: number
}

/** CPU of a variant minus the CPU of the first one, in microseconds per request. */
export interface Difference {
  readonly name: string
  readonly median: number
  /** Limits of the 95 % interval. */
  readonly low: number
  readonly high: number
  /** The cost of a request to the first gateway. */
  readonly of: number
}

/** The plugins that a gateway needs to serve chat. */
const served = ['identity', 'audit-log', 'api-chat', 'generic-compat'].map(
  (name) => `builtin:${name}`,
)

/** An ungoverned gateway with one model, so that little else costs CPU. */
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
 * Compares gateways that take turns. Uses the differences within a pass, because other load on the
 * machine affects all of them. Prints one line per gateway.
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
    // Each gateway is first, second and last equally often, and follows each other one.
    const turned = targets.map((_, i) => targets[(i + pass) % targets.length] as Target)
    for (const target of pass % 2 === 0 ? turned : turned.toReversed()) {
      micros.get(target.name)?.push(await microsOf(target, REQUESTS))
    }
  }

  const [[first = '', without = []] = [], ...others] = [...micros]
  const of = spread(without).median
  console.log(`${first.padEnd(14)} ${of.toFixed(1)} µs of CPU per request`)
  return others.map(([name, values]) => {
    const differences = values.map((value, pass) => value - (without[pass] ?? Number.NaN))
    const { median, low, high } = medianWithin(differences)
    const figures = [spread(values).median, median, low, high].map((each) => each.toFixed(1))
    console.log(
      `${name.padEnd(14)} ${figures[0]} µs of CPU per request, ${figures[1]} more (95 %: ${figures[2]} to ${figures[3]})`,
    )
    return { name, median, low, high, of }
  })
}

/** CPU time per request. */
async function microsOf({ name, url, pid }: Target, count: number): Promise<number> {
  const headers = { authorization: `Bearer ${adaKey}` }
  const cpu = cpuClock(pid)
  const load = { url, headers, body: chatBody(), count, concurrency: CONCURRENCY }
  const { failures, failure } = await sendLoad(load)
  if (failures > 0) throw new Error(`${name}: ${failures} failures: ${failure?.slice(0, 200)}`)
  return cpu() / count
}

/**
 * The median and its 95 % interval, for any distribution of the values: the limits are order
 * statistics, chosen by the sign test.
 */
export function medianWithin(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const { length } = sorted
  const beyond = Math.floor((length - 1.96 * Math.sqrt(length)) / 2)
  const at = (index: number) => sorted[index] ?? Number.NaN
  return { median: spread(values).median, low: at(beyond), high: at(length - 1 - beyond) }
}
