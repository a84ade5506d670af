/**
 * Exported as `model-gateway/host`: the active config, what is loaded, and isolation of plugins.
 */
export type { Welcome } from '../command.ts'
export {
  type Brought,
  broughtTo,
  type ConfigDraft,
  type ConfigSnapshot,
  type Declared,
  type ModelSpec,
  type ProviderSpec,
  type SnapshotListener,
  WRITE,
} from '../config.ts'
export { type Declaration, nameAt } from '../extension-point.ts'
export type {
  ChainedMiddleware,
  Inspection,
  LeftOutPlugin,
  PlannedModel,
  PlannedRoute,
  PlanRequest,
  RequestPlan,
  RouteFault,
  StartedPlugin,
} from '../inspection.ts'
export { capabilityNames, type IsolatedPlugin, type Isolation, type Start } from '../plugin.ts'
export { boundRouteListeners, isolation, snapshotListeners, welcome } from '../points.ts'
export type { BoundRouteFacts, BoundRouteListener } from '../provider.ts'
export type { ConfigInForce, ConfigLease } from '../runtime.ts'
export { createNameList, fillWildcard, isWildcard, type NameList } from '../wildcard.ts'
