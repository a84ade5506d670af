import { afterEach, describe, expect, jest, test } from 'bun:test'
import { GatewayError, type Middleware, type Seam, seams } from '../plugin/index.ts'
import { type ChainTools, type Link, runChain } from './chain.ts'
import { compileChains } from './compile-chains.ts'
import type { LifecycleServices, Received } from './exchange.ts'
import { respondStep } from './seams.ts'

const exchange = { requestId: 'r1' }

function link(id: string, parts: Partial<Omit<Middleware, 'id'>> = {}, plugin = 'plugin.a'): Link {
  const handle = async (_: unknown, next: () => Promise<unknown>) => void (await next())
  const around: Seam = 'decode'
  return { plugin, middleware: { id, around, handle, ...parts } as Middleware }
}

function tools(deadlineMs = 5000): ChainTools & { readonly faults: string[] } {
  const faults: string[] = []
  const fault = ({ middleware }: Link, { message }: Error) =>
    void faults.push(`${middleware.id}: ${message}`)
  return { deadlineMs, faults, fault }
}

const surfaces = ['chat_completions', 'responses', 'embeddings', 'messages']

describe('compiling', () => {
  const ids = (links: readonly Link[], seam: Seam = 'decode', surface = 'messages') =>
    compileChains(links, surfaces)
      [seam].get(surface)
      ?.map(({ middleware }) => middleware.id)

  test('keeps the order, except for before and after', () => {
    expect(ids([link('a'), link('b'), link('c')])).toEqual(['a', 'b', 'c'])
    expect(ids([link('a', { after: ['c'] }), link('b'), link('c')])).toEqual(['c', 'a', 'b'])
    expect(ids([link('a'), link('b'), link('c', { before: ['a', 'unknown'] })])).toEqual([
      'c',
      'a',
      'b',
    ])
  })

  test('puts each at its seam, and only where it applies', () => {
    const chains = compileChains(
      [
        link('a', { appliesTo: ['embeddings'] }),
        link('b', { around: 'respond' } as Partial<Middleware>),
      ],
      surfaces,
    )
    const found = seams.flatMap((seam) =>
      surfaces.map((surface) =>
        chains[seam]
          .get(surface)
          ?.map(({ middleware: { id } }) => id)
          .join(),
      ),
    )
    expect(found).toEqual(
      seams.flatMap((seam) =>
        surfaces.map((surface) =>
          seam === 'respond' ? 'b' : seam === 'decode' && surface === 'embeddings' ? 'a' : '',
        ),
      ),
    )
  })

  test('names those that cannot be brought together', () => {
    expect(() =>
      ids([link('a', { before: ['b'] }), link('b', { before: ['a'] }, 'plugin.b')]),
    ).toThrow(
      'form a cycle: "a" (plugin "plugin.a") → "b" (plugin "plugin.b") → "a" (plugin "plugin.a")',
    )
    expect(() => ids([link('a'), link('a', {}, 'plugin.b')])).toThrow(
      'plugin "plugin.b" provides the middleware "a", which plugin "plugin.a" already provides',
    )
  })
})

describe('running', () => {
  test('the first one begins first and ends last, and sees the view of the step', async () => {
    const journal: string[] = []
    const links = ['a', 'b'].map((id) =>
      link(id, {
        async handle(_: unknown, next: () => Promise<unknown>) {
          journal.push(`${id} begins`)
          journal.push(`${id} sees ${await next()}`)
        },
      } as Partial<Middleware>),
    )
    const step = async () => {
      journal.push('step')
      return 'it'
    }
    await runChain(links, exchange, step, tools())
    expect(journal).toEqual(['a begins', 'b begins', 'step', 'b sees it', 'a sees it'])
  })

  test('an outer one cannot turn the failure of an inner one into another', async () => {
    const refusal = new GatewayError('invalid_request', 'no')
    const told = tools()
    const links = [
      link('outer', {
        async handle(_: unknown, next: () => Promise<unknown>) {
          await next().catch(() => {
            throw new GatewayError('model_not_found', 'other')
          })
        },
      } as Partial<Middleware>),
      link('inner', {
        handle() {
          throw refusal
        },
      }),
    ]
    const seen = await runChain(links, exchange, async () => 1, told).catch((error) => error)
    expect(seen).toBe(refusal)
    expect(told.faults).toEqual([])
  })

  // The test runner fails a test with an unhandled rejection.
  test('a failure that a middleware awaits later is not an unhandled rejection', async () => {
    const refusal = new GatewayError('conflict', 'no')
    const later = link('later', {
      async handle(_: unknown, next: () => Promise<unknown>) {
        const stepped = next()
        await Bun.sleep(5)
        await stepped
      },
    } as Partial<Middleware>)
    const seen = await runChain([later], exchange, () => Promise.reject(refusal), tools()).catch(
      (error) => error,
    )
    expect(seen).toBe(refusal)
  })

  test('time that the step takes is not counted, time outside of next is', async () => {
    const told = tools(50)
    await runChain([link('a')], exchange, () => Bun.sleep(200), told)
    expect(told.faults).toEqual([])
    let steps = 0
    let late: (() => Promise<unknown>) | undefined
    const hung = link('hung', {
      async handle(_: unknown, next: () => Promise<unknown>) {
        late = next
        await new Promise(() => {})
      },
    } as Partial<Middleware>)
    const step = async () => steps++
    const error = await runChain([link('a'), hung], exchange, step, told).catch((e) => e)
    expect(error).toMatchObject({ code: 'internal_error' })
    expect(told.faults).toEqual(['hung: did not finish within 50 ms outside of next'])
    // A call past its deadline cannot continue.
    expect(late).toThrow('called next after its deadline')
    expect(steps).toBe(0)
  })
})

test('twenty middlewares that do nothing cost at most 60 µs a request', async () => {
  const links = Array.from({ length: 20 }, (_, index) => link(`m${index}`))
  const step = async () => undefined
  const told = tools()
  const count = 5000
  async function cpu(run: () => Promise<unknown>) {
    const before = process.cpuUsage()
    for (let i = 0; i < count; i++) await run()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / count
  }
  const passes: number[] = []
  for (let pass = 0; pass < 6; pass++) {
    passes.push((await cpu(() => runChain(links, exchange, step, told))) - (await cpu(step)))
  }
  const best = Math.min(...passes)
  console.log(`twenty middlewares: ${best.toFixed(1)} µs`)
  expect(best).toBeLessThan(60)
})

test('a seam without middleware has no measurable cost', () => {
  const chains = compileChains([], surfaces)
  const services = { chains, chainTools: tools() } as unknown as LifecycleServices
  const received = { requestId: 'r', surface: { id: 'chat_completions' } } as unknown as Received
  const head = { status: 200, stream: false }
  const count = 200_000
  for (let i = 0; i < count; i++) void respondStep(received, head, services)
  const passes = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage()
    for (let i = 0; i < count; i++) void respondStep(received, head, services)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / count
  })
  expect(Math.min(...passes)).toBeLessThan(0.5)
})

test('each middleware has the whole deadline for itself, however many there are', async () => {
  const slow = Array.from({ length: 4 }, (_, n) =>
    link(`slow${n}`, {
      async handle(_: unknown, next: () => Promise<unknown>) {
        await Bun.sleep(400)
        await next()
      },
    } as Partial<Middleware>),
  )
  const used = tools(1000)
  await runChain(slow, exchange, async () => {}, used)
  expect(used.faults).toEqual([])
})

afterEach(() => {
  jest.useRealTimers()
})

test('a middleware that hangs after the step fails, too', async () => {
  const hangs = link('hangs', {
    async handle(_: unknown, next: () => Promise<unknown>) {
      await next()
      await new Promise(() => {})
    },
  } as Partial<Middleware>)
  const used = tools(20)
  const links = [hangs, link('ends')]
  await expect(runChain(links, exchange, async () => {}, used)).rejects.toThrow()
  expect(used.faults).toEqual(['hangs: did not finish within 20 ms outside of next'])
})

test('a finished chain leaves no timer behind', async () => {
  jest.useFakeTimers()
  await runChain([link('a')], exchange, async () => {}, tools())
  expect(jest.getTimerCount()).toBe(0)
})

test('the step is not run for a middleware that asks for it when all is over', async () => {
  let steps = 0
  let late: (() => Promise<unknown>) | undefined
  const keeps = link('keeps', {
    handle(_: unknown, next: () => Promise<unknown>) {
      late = next
    },
  } as Partial<Middleware>)
  const step = async () => void steps++
  await expect(runChain([keeps], exchange, step, tools())).rejects.toThrow()
  expect(() => late?.()).toThrow('called next after its deadline')
  expect(steps).toBe(0)
})
