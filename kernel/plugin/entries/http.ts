/**
 * What plugins import that answer HTTP requests of their own, or send some to addresses from outside of
 * the config: `model-gateway/http`.
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
