import type { Accounting, AccountingSink, PricingSource } from './accounting.ts'
import type { Command, Welcome } from './command.ts'
import type { SnapshotListener } from './config.ts'
import type { ExchangeRecorder } from './exchange.ts'
import type { Guard, ManagedCheckKind, RunningPack } from './guardrail.ts'
import type { HealthCheck } from './health.ts'
import type { HttpRoute, HttpRouteList } from './http.ts'
import type { Identity } from './identity.ts'
import type { Middleware } from './middleware.ts'
import type { Observer } from './observer.ts'
import { extensionPoint, type Isolation } from './plugin.ts'
import type { BoundRouteListener, ProviderFactory } from './provider.ts'
import type { Conversion, Dialect, Surface } from './surface.ts'

// biome-ignore lint/suspicious/noExplicitAny: each type has its own config; the loader checks it against that type's schema
export const providerFactories = extensionPoint<ProviderFactory<any>>('provider_factories', 'many')
// biome-ignore lint/suspicious/noExplicitAny: each surface reads its own kind of call
export const surfaces = extensionPoint<Surface<any>>('surfaces', 'many')
export const dialects = extensionPoint<Dialect>('dialects', 'many')
// biome-ignore lint/suspicious/noExplicitAny: each conversion takes the calls of one surface
export const conversions = extensionPoint<Conversion<any>>('conversions', 'many')
export const identity = extensionPoint<Identity>('identity', 'one')
export const accounting = extensionPoint<Accounting>('accounting', 'one')
export const accountingSinks = extensionPoint<AccountingSink>('accounting_sinks', 'many')
export const pricingSource = extensionPoint<PricingSource>('pricing_source', 'one')
export const exchangeRecorders = extensionPoint<ExchangeRecorder>('exchange_recorders', 'many')
export const observers = extensionPoint<Observer>('observers', 'many')
export const snapshotListeners = extensionPoint<SnapshotListener>('snapshot_listeners', 'many')
export const boundRouteListeners = extensionPoint<BoundRouteListener>(
  'bound_route_listeners',
  'many',
)
export const commands = extensionPoint<Command>('commands', 'many')
export const welcome = extensionPoint<Welcome>('welcome', 'many')
export const healthChecks = extensionPoint<HealthCheck>('health_checks', 'many', {
  claims: ({ name }) => [`the health check "${name}"`],
})
export const httpRoutes = extensionPoint<HttpRoute>('http_routes', 'many', {
  // Names of parameters do not tell routes apart.
  claims: ({ method, path }) => [`${method} ${path.replaceAll(/:\w+/g, ':')}`],
})
export const httpRouteLists = extensionPoint<HttpRouteList>('http_route_lists', 'many')
export const guardrailPacks = extensionPoint<RunningPack>('guardrail_packs', 'many')
export const isolation = extensionPoint<Isolation>('isolation', 'one')
// biome-ignore lint/suspicious/noExplicitAny: each kind has its own config; the loader checks it against that kind's schema
export const managedCheckKinds = extensionPoint<ManagedCheckKind<any>>(
  'managed_check_kinds',
  'many',
)
export const guard = extensionPoint<Guard>('guard', 'one')
export const middleware = extensionPoint<Middleware>('middleware', 'many')
