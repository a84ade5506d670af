import { Type } from '@sinclair/typebox'
import type { Accounting } from './accounting.ts'
import type { Affinity } from './affinity.ts'
import { type Command, CommandSpecShape, type Welcome } from './command.ts'
import type { SnapshotListener } from './config.ts'
import type { ExchangeRecorder } from './exchange.ts'
import { extensionPoint, Shape } from './extension-point.ts'
import type { Guard } from './guardrail.ts'
import type { HealthCheck } from './health.ts'
import { type HttpRoute, type HttpRouteList, spellingsOf } from './http.ts'
import type { Identity } from './identity.ts'
import { type Middleware, seams } from './middleware.ts'
import type { Observer } from './observer.ts'
import type { Isolation } from './plugin.ts'
import { type BoundRouteListener, type ProviderFactory, ProviderTypeSpecShape } from './provider.ts'
import type { Conversion, Dialect, Surface } from './surface.ts'

const { method, text } = Shape

// biome-ignore lint/suspicious/noExplicitAny: each type has its own config; the loader checks it against that type's schema
export const providerFactories = extensionPoint<ProviderFactory<any>>(
  'provider_factories',
  'many',
  {
    what: 'provider type',
    key: 'type',
    shape: Type.Object({ type: text(), create: method() }),
    declared: { spec: ProviderTypeSpecShape, specs: ({ providerTypes = [] }) => providerTypes },
  },
)
// biome-ignore lint/suspicious/noExplicitAny: each surface reads its own kind of call
export const surfaces = extensionPoint<Surface<any>>('surfaces', 'many', {
  what: 'surface',
  key: 'id',
  shape: Type.Object({
    id: text(),
    paths: Type.Array(text()),
    dialect: text(),
    operation: text(),
    capability: Type.Optional(text()),
    priced: Type.Optional(Type.Boolean()),
    read: method(),
    error: Type.Optional(method()),
    headers: Type.Optional(method()),
    ties: Type.Optional(method()),
    keepAlive: Type.Optional(text()),
    door: Type.Optional(Type.Object({ read: method(), write: Type.Optional(method()) })),
    keyHeaders: Type.Optional(Type.Array(text())),
  }),
  fault({ id, paths }) {
    const odd = paths.find((path: string) => !/^(?:\/[\w.-]+)+(?:\/\*)?$/.test(path))
    if (paths.length === 0) return `the surface "${id}" has no path`
    return odd && `the surface "${id}" has the path "${odd}", which must look like /v1/things`
  },
  claims: ({ id, paths }) => [
    `the surface "${id}"`,
    ...paths.flatMap(spellingsOf).map((path: string) => `POST ${path}`),
  ],
})
/** Without it, each call is drawn among the routes of its model. */
export const affinity = extensionPoint<Affinity>('affinity', 'one', {
  shape: Type.Object({ choose: method(), note: method() }),
})
export const dialects = extensionPoint<Dialect>('dialects', 'many', {
  what: 'dialect',
  key: 'id',
  shape: Type.Object({
    id: text(),
    readReply: method(),
    answer: Type.Optional(method()),
    streaming: Type.Optional(
      Type.Object({ open: method(), collect: method(), tell: method(), textOf: method() }),
    ),
    refusal: Type.Optional(method()),
  }),
  claims: ({ id }) => [`the dialect "${id}"`],
  declared: {
    spec: Type.Object({ id: text() }),
    specs: ({ dialects = [] }) => dialects.map((id) => ({ id })),
  },
})
// biome-ignore lint/suspicious/noExplicitAny: each conversion takes the calls of one surface
export const conversions = extensionPoint<Conversion<any>>('conversions', 'many', {
  shape: Type.Object({
    from: text(),
    to: text(),
    request: method(),
    reply: method(),
    stream: method(),
  }),
  fault: ({ from, to }) =>
    from === to ? `the conversion converts "${from}" to itself` : undefined,
  claims: ({ from, to }) => [`the conversion from "${from}" to "${to}"`],
})
export const identity = extensionPoint<Identity>('identity', 'one', {
  shape: Type.Object({ authenticate: method(), directory: method(), onChange: method() }),
})
export const accounting = extensionPoint<Accounting>('accounting', 'one', {
  shape: Type.Object({
    checkOwner: method(),
    admit: method(),
    settle: method(),
    abortDrainMs: method(),
  }),
})
export const exchangeRecorders = extensionPoint<ExchangeRecorder>('exchange_recorders', 'many', {
  shape: Type.Object({ record: method() }),
})
export const observers = extensionPoint<Observer>('observers', 'many', {
  shape: Type.Object({ observe: method() }),
})
export const snapshotListeners = extensionPoint<SnapshotListener>('snapshot_listeners', 'many', {
  shape: Type.Object({ check: Type.Optional(method()), prepare: method() }),
})
export const boundRouteListeners = extensionPoint<BoundRouteListener>(
  'bound_route_listeners',
  'many',
  { shape: Type.Object({ inForce: method() }) },
)
/**
 * Sub-commands of `gateway`.
 *
 * @example ctx.provide(commands, { name: 'tokens prune', run: async (args, out) => out('done') })
 */
export const commands = extensionPoint<Command>('commands', 'many', {
  what: 'command',
  key: 'name',
  shape: Type.Object({ name: text(), run: method() }),
  declared: {
    spec: CommandSpecShape,
    specs: ({ commands = [] }) => commands.filter(({ standalone }) => standalone !== true),
  },
})
export const welcome = extensionPoint<Welcome>('welcome', 'many', {
  shape: Type.Object({ lines: method() }),
})
/**
 * The checks of `GET /readyz`.
 *
 * @example ctx.provide(healthChecks, { name: 'quota', check: () => ({ status: 'ok' }) })
 */
export const healthChecks = extensionPoint<HealthCheck>('health_checks', 'many', {
  what: 'health check',
  key: 'name',
  shape: Type.Object({ name: text(), check: method() }),
  claims: ({ name }) => [`the health check "${name}"`],
})
export const httpRoutes = extensionPoint<HttpRoute>('http_routes', 'many', {
  shape: Type.Object({ method: text(), path: text(), handle: method() }),
  // Routes that differ only in parameter names are the same route.
  claims: ({ method, path }) =>
    spellingsOf(path.replaceAll(/:\w+/g, ':')).map((spelling) => `${method} ${spelling}`),
})
export const httpRouteLists = extensionPoint<HttpRouteList>('http_route_lists', 'many', {
  shape: Type.Object({ routes: method() }),
})
export const isolation = extensionPoint<Isolation>('isolation', 'one', {
  shape: Type.Object({ setup: method() }),
})
export const guard = extensionPoint<Guard>('guard', 'one', {
  shape: Type.Object({ compile: method() }),
})
export const middleware = extensionPoint<Middleware>('middleware', 'many', {
  what: 'middleware',
  key: 'id',
  shape: Type.Object({
    id: text(),
    around: Shape.oneOf(seams),
    before: Type.Optional(Type.Array(Type.String())),
    after: Type.Optional(Type.Array(Type.String())),
    appliesTo: Type.Optional(Type.Array(Type.String())),
    handle: method(),
  }),
})
