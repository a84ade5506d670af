import { describe, expect, test } from 'bun:test'
import { load } from '../config/config.fixture.ts'
import {
  type BoundRoute,
  ConfigError,
  type Execute,
  type ProviderFactory,
  type RouteSpec,
} from '../plugin/index.ts'
import { createInstances, effectiveCapabilities } from './instances.ts'
import { keptLog } from './registry.fixture.ts'
import type { Registry } from './registry.ts'

const config = load(`
providers:
  - { id: one, type: wire, base_url: "http://one", auth: { mode: bearer, token: literal.t } }
  - { id: two, type: wire, base_url: "http://two", default_headers: { x-a: b } }
models:
  - { id: alias, alias_of: m }
  - id: m
    routes:
      - { provider: one, upstream_model: u }
      - { provider: two, upstream_model: u, enabled: false }
  - id: n
    routes:
      - { provider: two, upstream_model: v, capabilities: { tools: false, responses: false } }
`)
const execute: Execute = () => Promise.reject(new Error('not called'))

function made(create: ProviderFactory['create']): Pick<Registry, 'provided'> {
  const factory: ProviderFactory = { type: 'wire', create }
  const provided = [{ plugin: 'provider.wire', implementation: factory }]
  return { provided: () => provided as never }
}
function bound(route: RouteSpec): BoundRoute {
  return {
    supports: ['stream', 'tools'],
    pricing: { pricingProviderId: undefined, model: route.upstreamModel },
    execute: { chat_completions: execute, responses: execute },
  }
}
const { log } = keptLog()

describe('instances', () => {
  test('are created with their config, and all routes are bound', async () => {
    const created: unknown[] = []
    const { bound: routes } = await createInstances(
      config,
      made((own, settings) => {
        created.push([own, settings])
        return { bind: bound }
      }),
      log,
    )
    expect([...routes.keys()]).toEqual(['m/one/u', 'm/two/u', 'n/two/v'])
    expect(created).toEqual([
      [
        config.providers[0]?.config,
        { id: 'one', defaultHeaders: {}, pricingProviderId: undefined },
      ],
      [
        { base_url: 'http://two' },
        { id: 'two', defaultHeaders: { 'x-a': 'b' }, pricingProviderId: undefined },
      ],
    ])
  })

  test('are disposed once, in reverse order, despite errors', async () => {
    const journal: string[] = []
    const instances = await createInstances(
      config,
      made((_, { id }) => ({
        bind: bound,
        dispose() {
          journal.push(id)
          if (id === 'two') throw new Error('boom')
        },
      })),
      log,
    )
    await Promise.all([instances.dispose(), instances.dispose()])
    expect(journal).toEqual(['two', 'one'])
  })
})

test('a route may be an object of a class, and keep something in it', async () => {
  class Route implements BoundRoute {
    readonly supports = ['stream'] as const
    calls = 0
    get pricing() {
      return { pricingProviderId: undefined, model: 'u' }
    }
    get execute() {
      return { chat_completions: () => this.answer() }
    }
    async answer() {
      this.calls += 1
      return { kind: 'buffered' as const, body: { calls: this.calls } }
    }
  }
  const { bound: routes } = await createInstances(
    config,
    made(() => ({ bind: () => new Route() })),
    log,
  )
  expect(routes.size).toBe(3)
  const route = routes.get('m/one/u')
  expect(await route?.execute.chat_completions?.({} as never)).toMatchObject({ body: { calls: 1 } })
})

describe('reports everything that cannot work at once, with absolute paths', () => {
  async function problems(create: ProviderFactory['create']) {
    const error: unknown = await createInstances(config, made(create), log).catch((e) => e)
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).problems.map((p) => [p.path.join('.'), p.message])
  }

  test('routes that cannot be bound', async () => {
    const disposed: string[] = []
    const found = await problems((_, { id }) => ({
      bind(route) {
        if (route.id === 'n/two/v') return {} as BoundRoute
        if (id === 'two') throw new Error('boom')
        throw new ConfigError([
          { path: ['compatibility', 'only'], message: 'first' },
          { path: ['upstream_model'], message: 'second' },
        ])
      },
      dispose: () => void disposed.push(id),
    }))
    expect(found).toEqual([
      ['models.1.routes.0.compatibility.only', 'first'],
      ['models.1.routes.0.upstream_model', 'second'],
      ['models.1.routes.1', 'binding route m/two/u failed: boom (plugin "provider.wire")'],
      [
        'models.2.routes.0',
        'binding route n/two/v failed: the bound route is not valid: supports must be a list, got nothing (plugin "provider.wire")',
      ],
    ])
    expect(disposed).toEqual(['two', 'one'])
  })

  test('providers that cannot be created, without their routes', async () => {
    const found = await problems((_, { id }) => {
      if (id === 'one') throw new ConfigError([{ path: ['base_url'], message: 'is wrong' }])
      return Promise.reject(new Error('boom'))
    })
    expect(found).toEqual([
      ['providers.0.base_url', 'is wrong'],
      ['providers.1', 'creating provider "two" failed: boom (plugin "provider.wire")'],
    ])
  })

  test('a provider that cannot be created, and routes of others', async () => {
    const found = await problems((_, { id }) => {
      if (id === 'one') throw new Error('boom')
      return { bind: () => ({}) as BoundRoute }
    })
    expect(found.map(([path]) => path)).toEqual([
      'providers.0',
      'models.1.routes.1',
      'models.2.routes.0',
    ])
  })

  test('a type without a factory', async () => {
    const none = { provided: () => [] }
    const error: unknown = await createInstances(config, none, log).catch((e) => e)
    expect((error as ConfigError).problems[0]?.message).toBe(
      'creating provider "one" failed: no plugin makes providers of type "wire"',
    )
  })
})

test('a capability needs the config, and an executor or support', () => {
  const route = config.snapshot.models.get('n')?.routes[0] as RouteSpec
  const ways = new Map(['chat_completions', 'responses'].map((dialect) => [dialect, 1]))
  expect(effectiveCapabilities(route, bound(route), ways)).toEqual({
    chat_completions: true,
    responses: false,
    embeddings: false,
    stream: true,
    tools: false,
    vision: false,
    json_schema: false,
  })
})
