import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Middleware, middleware as middlewarePoint } from 'model-gateway/middleware'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import { type Link, runChain } from '../../kernel/lifecycle/chain.ts'
import { compileChains } from '../../kernel/lifecycle/compile-chains.ts'
import { implementationFault } from '../../kernel/registry/shape.ts'
import { expectNothingIn, TEST_MS, thrownBy } from './kit.ts'
import {
  type ExchangeSample,
  type SeenExchange,
  sampledSurfaces,
  sampleExchange,
} from './middleware-exchange.ts'
import { type PluginBench, type PluginBenchOptions, setUpPlugin } from './plugin-bench.ts'

/** One request past one middleware, and what comes of it. */
export interface MiddlewareCase extends ExchangeSample {
  readonly name: string
  /** Id of the middleware. */
  readonly id: string
  /** The code with which it is refused; absent: it passes. */
  readonly refused?: string
  /** The body that it puts in the place of the caller's at `decode`. */
  readonly body?: JsonObject | 'as it came'
  /** Headers that it adds at `respond`. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface MiddlewareKit extends PluginBenchOptions {
  readonly cases?: readonly MiddlewareCase[]
}

/** Milliseconds outside of `next` that the kit allows; the gateway allows 5,000. */
const DEADLINE_MS = 1_000

/** What every middleware has to do, as tests. Call it once for a plugin. */
export function testMiddleware(kit: MiddlewareKit): void {
  const { id: plugin } = kit.plugin.manifest

  describe(`contract of the middlewares of ${plugin}`, () => {
    let bench: PluginBench
    let all: readonly Middleware[] = []

    beforeAll(async () => {
      bench = await setUpPlugin(kit)
      all = bench.of(middlewarePoint)
    }, TEST_MS)
    afterAll(() => bench?.dispose())

    /** Runs one request past one middleware with the gateway's own chain around it. */
    async function pass(middleware: Middleware, sample: ExchangeSample, stepFails?: GatewayError) {
      const faults: string[] = []
      const seen = sampleExchange(middleware.around, sample)
      const link: Link = { plugin, middleware }
      const error = await thrownBy(() =>
        runChain<unknown>(
          [link],
          seen.exchange,
          async () => {
            seen.stepRan()
            if (stepFails !== undefined) throw stepFails
            return seen.result
          },
          { deadlineMs: DEADLINE_MS, fault: (_, fault) => void faults.push(fault.message) },
        ),
      )
      return { seen, error, faults }
    }
    async function forEach(
      look: (middleware: Middleware, surface: string) => Promise<readonly string[]>,
    ) {
      const wrong: string[] = []
      for (const middleware of all) {
        for (const surface of middleware.appliesTo ?? sampledSurfaces) {
          const faults = await look(middleware, surface)
          wrong.push(...faults.map((fault) => `${middleware.id} (${surface}): it ${fault}`))
        }
      }
      expectNothingIn(wrong)
    }

    test('each names itself, its seam and its neighbours', () => {
      if (all.length === 0) throw bench.error ?? new Error('it provides no middleware')
      expectNothingIn(
        all.flatMap((each) => {
          const fault = implementationFault(middlewarePoint, each)
          return fault === undefined ? [] : [`a middleware ${fault}`]
        }),
      )
      compileChains(
        all.map((middleware) => ({ plugin, middleware })),
        sampledSurfaces,
      )
    })

    test(
      'it calls next once, or refuses with a GatewayError, and is not long about it',
      () =>
        forEach(async (middleware, surface) => {
          const { faults } = await pass(middleware, { surface })
          return faults
        }),
      TEST_MS,
    )

    test(
      'it copes with a step that fails, and the failure stands',
      () =>
        forEach(async (middleware, surface) => {
          const failure = new GatewayError('upstream_transport', 'on purpose')
          const { seen, error, faults } = await pass(middleware, { surface }, failure)
          if (seen.steps() > 0 && error !== failure)
            return [...faults, 'hid the failure of the step']
          return faults
        }),
      TEST_MS,
    )

    test(
      'it takes an exchange without tags, tools or caller',
      () =>
        forEach(async (middleware, surface) => {
          const { faults } = await pass(middleware, { surface, bare: true })
          return faults
        }),
      TEST_MS,
    )

    test(
      'requests at once do not see each other',
      () =>
        forEach(async (middleware, surface) => {
          const marks = Array.from({ length: 20 }, (_, index) => `canary-${index}-5d1f7c`)
          const passed = await Promise.all(
            marks.map((mark) => pass(middleware, { surface, text: mark, requestId: mark })),
          )
          return passed.flatMap(({ seen }, index) => {
            const told = JSON.stringify([seen.replacedBody(), seen.headers()])
            const others = marks.filter((mark, at) => at !== index && told.includes(mark))
            return others.length === 0 ? [] : ['shows one request what another said']
          })
        }),
      TEST_MS,
    )

    test(
      'what a request says and shows is not logged',
      () =>
        forEach(async (middleware, surface) => {
          const mark = 'canary-logged-5d1f7c'
          await pass(middleware, { surface, text: mark })
          return bench.output().includes(mark) ? ['wrote down what a request said'] : []
        }),
      TEST_MS,
    )

    for (const each of kit.cases ?? []) {
      test(`case: ${each.name}`, async () => {
        const middleware = all.find(({ id }) => id === each.id)
        if (middleware === undefined)
          throw new Error(`the plugin provides no middleware ${each.id}`)
        const { seen, error, faults } = await pass(middleware, each)
        expectNothingIn(faults)
        expectCase(each, seen, error)
      })
    }
  })
}

function expectCase(each: MiddlewareCase, seen: SeenExchange, error: unknown): void {
  if (each.refused === undefined && error !== undefined) throw error
  expect((error as GatewayError | undefined)?.code).toBe(each.refused as never)
  if (each.body === 'as it came') expect(seen.replacedBody()).toBeUndefined()
  else if (each.body !== undefined) expect(seen.replacedBody()).toEqual(each.body)
  if (each.headers !== undefined) expect(seen.headers()).toEqual({ ...each.headers })
}
