import { describe, expect, test } from 'bun:test'
import {
  features,
  GatewayError,
  type ModelSpec,
  type Principal,
  type RouteSpec,
} from '../plugin/index.ts'
import { mayUse } from './access.ts'
import { createCatalog, type ModelCatalog, type Route } from './catalog.ts'
import { resolveRoute } from './resolve.ts'

type RouteInput = Partial<Pick<RouteSpec, 'priority' | 'weight' | 'enabled' | 'upstreamModel'>> & {
  without?: string[]
}
type ModelInput = Partial<Omit<ModelSpec, 'routes'>> & { id: string; routes?: RouteInput[] }

const allFlags = ['chat_completions', 'responses', 'embeddings', ...features]

function flags(without: string[] = []) {
  return Object.fromEntries(allFlags.map((f) => [f, !without.includes(f)]))
}

function catalogOf(...inputs: ModelInput[]): ModelCatalog {
  const specs = inputs.map(
    (input): ModelSpec => ({
      description: undefined,
      tags: [],
      rank: 100,
      aliasOf: undefined,
      allowlist: undefined,
      ...input,
      routes: (input.aliasOf === undefined ? (input.routes ?? [{}]) : []).map((route, index) => ({
        id: `${input.id}/p/${route.upstreamModel ?? index}`,
        model: input.id,
        provider: 'p',
        upstreamModel: route.upstreamModel ?? String(index),
        priority: route.priority ?? 100,
        weight: route.weight ?? 1,
        enabled: route.enabled ?? true,
        capabilities: flags(route.without),
        extraHeaders: {},
        extraBody: {},
        compatibility: {},
      })),
    }),
  )
  const bind = (spec: RouteSpec): Route => ({
    spec,
    bound: {
      supports: [],
      execute: {},
      pricing: { pricingProviderId: undefined, model: spec.upstreamModel },
    },
    ways: new Map(),
    capabilities: spec.capabilities,
  })
  return createCatalog(new Map(specs.map((s) => [s.id, s])), bind)
}

function user(changes: Partial<Principal> = {}): Principal {
  return {
    apiKeyId: 'k',
    owner: {
      kind: 'user',
      userId: 'u',
      email: 'ada@example.com',
      name: 'Ada',
      team: { id: 't', key: 'research' },
      requestLoggingEnabled: true,
    },
    ownershipScopeKey: 'user:u',
    grants: 'all',
    allowlists: [],
    ...changes,
  }
}

const serviceAccount: Principal = user({
  owner: {
    kind: 'service_account',
    serviceAccountId: 's',
    key: 'bot',
    name: 'Bot',
    team: { id: 't', key: 'research' },
  },
  ownershipScopeKey: 'service_account:s',
})

function ask(
  catalog: ModelCatalog,
  selector: string,
  principal = user(),
  needed: string[] = ['chat_completions'],
) {
  try {
    const { model, executionModel, route } = resolveRoute(
      catalog,
      { selector, principal, needed },
      Math.random,
    )
    return { model: model.id, executes: executionModel.id, route: route.spec.upstreamModel }
  } catch (error) {
    if (error instanceof GatewayError) return `${error.code}: ${error.message}`
    throw error
  }
}

describe('access', () => {
  // Every combination: owner kind × grant × principal allowlist × model allowlist × alias or target.
  const target: ModelInput = { id: 'target' }
  for (const owner of ['user', 'service_account'] as const)
    for (const grant of ['all', 'asked', 'other'] as const)
      for (const principalList of ['none', 'asked', 'other', 'asked and other'] as const)
        for (const modelList of ['none', 'email', 'team', 'stranger'] as const)
          for (const asked of ['target', 'alias'] as const) {
            const other = asked === 'target' ? 'alias' : 'target'
            const allowlist = {
              none: undefined,
              email: { users: ['ada@example.com'], teams: [] },
              team: { users: [], teams: ['research'] },
              stranger: { users: ['eve@example.com'], teams: ['sales'] },
            }[modelList]
            const principal: Principal = {
              ...(owner === 'user' ? user() : serviceAccount),
              grants: grant === 'all' ? 'all' : new Set([grant === 'asked' ? asked : other]),
              allowlists: {
                none: [],
                asked: [new Set([asked])],
                other: [new Set([other])],
                'asked and other': [new Set([asked]), new Set([other])],
              }[principalList],
            }
            const catalog = catalogOf(
              { ...target, allowlist: asked === 'target' ? allowlist : undefined },
              {
                id: 'alias',
                aliasOf: 'target',
                allowlist: asked === 'alias' ? allowlist : undefined,
              },
            )
            const granted = grant !== 'other'
            const listed = principalList === 'none' || principalList === 'asked'
            const open = modelList === 'none' || (owner === 'user' && modelList !== 'stranger')
            const allowed = granted && listed && open
            test(`${owner}, grant ${grant}, allowlist ${principalList}, model ${modelList}, asks ${asked}: ${allowed}`, () => {
              const answer = ask(catalog, asked, principal)
              if (allowed) expect(answer).toMatchObject({ model: asked, executes: 'target' })
              else expect(answer).toStartWith('model_not_granted')
              const model = catalog.models.get(asked)
              expect(model && mayUse(principal, model)).toBe(allowed)
            })
          }

  test('an allowlist names e-mail addresses in any case', () => {
    const catalog = catalogOf({ id: 'm', allowlist: { users: ['Ada@Example.com'], teams: [] } })
    expect(ask(catalog, 'm')).toMatchObject({ model: 'm' })
  })

  test('an allowlist on the target does not close an open alias', () => {
    const catalog = catalogOf(
      { id: 'target', allowlist: { users: [], teams: [] } },
      { id: 'alias', aliasOf: 'target' },
    )
    expect(ask(catalog, 'alias')).toMatchObject({ executes: 'target' })
    expect(ask(catalog, 'target')).toStartWith('model_not_granted')
  })
})

describe('resolution', () => {
  test('aliases of aliases end at the execution model', () => {
    const catalog = catalogOf({ id: 'a', aliasOf: 'b' }, { id: 'b', aliasOf: 'c' }, { id: 'c' })
    expect(ask(catalog, 'a')).toMatchObject({ model: 'a', executes: 'c' })
  })

  test('an unknown model is not found, and a long name is not echoed whole', () => {
    expect(ask(catalogOf({ id: 'a' }), 'nope')).toStartWith("model_not_found: model 'nope'")
    expect((ask(catalogOf({ id: 'a' }), 'x'.repeat(5000)) as string).length).toBeLessThan(300)
  })

  test('tags: all must match; lowest rank, then id; no access means not there', () => {
    const catalog = catalogOf(
      { id: 'z', tags: ['fast', 'eu'], rank: 1 },
      { id: 'b', tags: ['fast'], rank: 5 },
      { id: 'a', tags: ['fast'], rank: 5 },
      { id: 'c', tags: ['fast'], rank: 5 },
    )
    expect(ask(catalog, 'tag:fast')).toMatchObject({ model: 'z' })
    expect(ask(catalog, 'tag:fast,eu')).toMatchObject({ model: 'z' })
    expect(ask(catalog, 'tag:fast', user({ grants: new Set(['a', 'b', 'c']) }))).toMatchObject({
      model: 'a',
    })
    expect(ask(catalog, 'tag:fast,eu', user({ grants: new Set(['a']) }))).toStartWith(
      'model_not_found',
    )
    expect(ask(catalog, 'tag:slow')).toStartWith('model_not_found')
    for (const bad of ['tag:', 'tag:a,', 'tag:,a'])
      expect(ask(catalog, bad)).toStartWith('invalid_request')
  })

  test('tags skip candidates that cannot serve; with none left the first error speaks', () => {
    const catalog = catalogOf(
      { id: 'off', tags: ['t'], rank: 1, routes: [{ enabled: false }] },
      { id: 'no-tools', tags: ['t'], rank: 2, routes: [{ without: ['tools'] }] },
      { id: 'full', tags: ['t', 'u'], rank: 3 },
    )
    expect(ask(catalog, 'tag:t', user(), ['tools'])).toMatchObject({ model: 'full' })
    const few = user({ grants: new Set(['off', 'no-tools']) })
    expect(ask(catalog, 'tag:t', few, ['tools'])).toStartWith("no_routes_available: model 'off'")
    const one = user({ grants: new Set(['no-tools']) })
    expect(ask(catalog, 'tag:t', one, ['tools'])).toBe(
      "invalid_request: model 'no-tools' has no route that supports: tools",
    )
  })
})

describe('planning', () => {
  test('lower priority first; disabled and weightless routes are dropped', () => {
    const catalog = catalogOf({
      id: 'm',
      routes: [
        { upstreamModel: 'late', priority: 200 },
        { upstreamModel: 'off', priority: 1, enabled: false },
        { upstreamModel: 'weightless', priority: 1, weight: 0 },
        { upstreamModel: 'negative', priority: 1, weight: -1 },
        { upstreamModel: 'first', priority: 10 },
      ],
    })
    for (let i = 0; i < 20; i++) expect(ask(catalog, 'm')).toMatchObject({ route: 'first' })
    expect(ask(catalogOf({ id: 'm', routes: [{ weight: 0 }] }), 'm')).toStartWith(
      'no_routes_available',
    )
    expect(ask(catalogOf({ id: 'm', routes: [] }), 'm')).toStartWith('no_routes_available')
  })

  test('skips a capable route that refuses; if all refuse, the first refusal is the error', () => {
    const routes = [
      { upstreamModel: 'incapable', priority: 1, without: ['tools' as const] },
      { upstreamModel: 'a', priority: 2 },
      { upstreamModel: 'b', priority: 3 },
    ]
    const catalog = catalogOf({ id: 'm', routes, tags: ['t'] }, { id: 'n', rank: 200, tags: ['t'] })
    const stranded: string[] = []
    const take = (selector: string, ...refused: string[]) =>
      resolveRoute(
        catalog,
        {
          selector,
          principal: user(),
          needed: ['tools'],
          refusal: ({ spec }) =>
            refused.includes(spec.upstreamModel)
              ? new GatewayError('invalid_request', `not ${spec.upstreamModel}`)
              : undefined,
          stranded: ({ model }) => stranded.push(model.id),
        },
        Math.random,
      ).route.spec.id
    expect(take('m', 'incapable')).toBe('m/p/a')
    expect(take('m', 'a')).toBe('m/p/b')
    expect(() => take('m', 'a', 'b')).toThrow('not a')
    expect(take('tag:t', 'a', 'b')).toBe('n/p/0')
    expect(stranded).toEqual(['m'])
    expect(() => take('tag:t', 'a', 'b', '0')).toThrow('not a')
    expect(stranded).toEqual(['m', 'm'])
  })

  test('skips a route that lacks a capability', () => {
    const catalog = catalogOf({
      id: 'm',
      routes: [
        { upstreamModel: 'chat', priority: 1, without: ['responses'] },
        { upstreamModel: 'both', priority: 2 },
      ],
    })
    expect(ask(catalog, 'm', user(), ['responses'])).toMatchObject({ route: 'both' })
    expect(ask(catalog, 'm', user(), ['chat_completions'])).toMatchObject({ route: 'chat' })
  })

  test('weights are proportions, also among the routes that the capability filter leaves', () => {
    const catalog = catalogOf({
      id: 'm',
      routes: [
        { upstreamModel: 'one', weight: 1 },
        { upstreamModel: 'three', weight: 3 },
        { upstreamModel: 'blind', weight: 96, without: ['vision'] },
      ],
    })
    let seed = 42
    const random = () => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed / 2147483648
    }
    const count = { one: 0, three: 0 }
    for (let i = 0; i < 20_000; i++) {
      const { route } = resolveRoute(
        catalog,
        { selector: 'm', principal: user(), needed: ['vision'] },
        random,
      )
      count[route.spec.upstreamModel as 'one' | 'three']++
    }
    expect(count.three / count.one).toBeWithin(2.8, 3.2)
  })
})

describe('wildcards', () => {
  const catalog = catalogOf(
    { id: 'open/*', routes: [{ upstreamModel: '*' }], rank: 1 },
    { id: 'open/big-*', routes: [{ upstreamModel: 'huge-*' }] },
    { id: 'open/small', routes: [{ upstreamModel: 'tiny' }] },
    { id: 'fast', aliasOf: 'open/quick' },
    { id: 'short/*', aliasOf: 'open/*' },
  )
  test.each([
    ['open/x/y', 'open/x/y', 'open/x/y/p/x/y'],
    ['open/big-1', 'open/big-1', 'open/big-1/p/huge-1'],
    ['open/small', 'open/small', 'open/small/p/tiny'],
    ['fast', 'open/quick', 'open/quick/p/quick'],
    ['short/small', 'open/small', 'open/small/p/tiny'],
    ['short/new', 'open/new', 'open/new/p/new'],
  ])('%s is executed as %s', (asked, executed, route) => {
    const model = catalog.find(asked)
    expect(model).toMatchObject({ id: asked, executionModel: executed })
    expect(catalog.find(executed)?.routes.map(({ spec }) => spec.id)).toEqual([route])
    expect(catalog.find(asked)).toBe(model as NonNullable<typeof model>)
  })

  test('match names, and cannot be called by their own id', () => {
    for (const name of ['open/*', 'open/', 'other', `open/${'x'.repeat(500)}`])
      expect(catalog.find(name)).toBeUndefined()
    expect(catalog.ranked.map(({ id }) => id)).toEqual(['fast', 'open/small'])
  })
})
