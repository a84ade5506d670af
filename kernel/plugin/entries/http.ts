/**
 * Exported as `model-gateway/http`: for plugins that serve HTTP routes, or call addresses that are
 * not from the config.
 */
export type { Door, HttpCall, HttpMethod, HttpRoute, HttpRouteList } from '../http.ts'
export {
  type AddressPolicy,
  type Outbound,
  OutboundError,
  type OutboundFault,
  type OutboundRequest,
  outboundUrlProblem,
} from '../outbound.ts'
export { httpRouteLists, httpRoutes } from '../points.ts'
