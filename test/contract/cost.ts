import type { GuardInput, GuardrailPack } from 'model-gateway/guardrail'
import type { Middleware } from 'model-gateway/middleware'
import type { JsonObject } from 'model-gateway/plugin'
import type { Egress } from 'model-gateway/provider'
import { runChain } from '../../kernel/lifecycle/chain.ts'
import { type BenchOptions, collectEvents, providerCall, setUpProvider } from './bench.ts'
import { executor } from './kit.ts'
import { sampleExchange } from './middleware-exchange.ts'

export interface CostOptions {
  /** Calls in one round. Default 500. */
  readonly calls?: number
  /** Rounds, of which the median counts. Default 7, after one that warms up. */
  readonly rounds?: number
}

/** CPU microseconds of one call, of all threads of this process together. */
export async function cpuPerCall(
  call: () => unknown,
  { calls = 500, rounds = 7 }: CostOptions = {},
): Promise<number> {
  const costs: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const before = process.cpuUsage()
    for (let index = 0; index < calls; index++) {
      const result = call()
      if (result instanceof Promise) await result
    }
    const { user, system } = process.cpuUsage(before)
    if (round > 0) costs.push((user + system) / calls)
  }
  return costs.toSorted((a, b) => a - b)[Math.floor(costs.length / 2)] as number
}

/** What one verdict of a pack costs, over these inputs. */
export async function packCost(
  pack: GuardrailPack,
  inputs: readonly GuardInput[],
  options?: CostOptions,
): Promise<number> {
  await pack.prepare?.()
  let at = 0
  // A new object each time: what packs keep of an input must not make it look cheap.
  return await cpuPerCall(
    () => pack.evaluate({ ...inputs[at++ % inputs.length] } as GuardInput),
    options,
  )
}

export interface ProviderCostKit extends Omit<BenchOptions, 'egress'> {
  readonly dialect: string
  readonly request: JsonObject
  /** What the upstream answers, in the pieces in which it comes. */
  readonly reply: {
    readonly status?: number
    readonly contentType: string
    readonly pieces: readonly (string | Uint8Array)[]
  }
}

/** What one call of a provider costs: the conversion there and back, without any network. */
export async function providerCost(kit: ProviderCostKit, options?: CostOptions): Promise<number> {
  const bench = await setUpProvider({ ...kit, egress: cannedEgress(kit.reply) })
  try {
    const execute = executor(bench.bind(), kit.dialect)
    const call = providerCall(kit.request)
    return await cpuPerCall(async () => {
      const result = await execute(call)
      if (result.kind === 'stream') await collectEvents(result)
    }, options)
  } finally {
    await bench.dispose()
  }
}

function cannedEgress({ status = 200, contentType, pieces }: ProviderCostKit['reply']): Egress {
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const whole = Buffer.concat(bytes)
  return {
    async send() {
      return {
        status,
        headers: new Headers({ 'content-type': contentType }),
        body: (async function* () {
          yield* bytes
        })(),
        bytes: async () => whole,
      }
    },
  }
}

/** What a middleware adds to one request, the gateway's own chain around it included. */
export async function middlewareCost(
  middleware: Middleware,
  options?: CostOptions,
): Promise<number> {
  const links = [{ plugin: 'plugin.bench', middleware }]
  const tools = { deadlineMs: 5_000, fault: (_: unknown, error: Error) => raise(error) }
  return await cpuPerCall(() => {
    const { exchange, result } = sampleExchange(middleware.around, {})
    return runChain(links, exchange, async () => result, tools)
  }, options)
}

function raise(error: Error): never {
  throw error
}
