import type { JsonObject } from 'model-gateway/plugin'
import type { BoundRoute } from 'model-gateway/provider'
import { invalid, isPresent, leaveOut, type ParamPolicy } from 'model-gateway/wire'

/** What of a route decides how a messages request is said as a chat call. */
export interface MessagesRoute {
  readonly compatShape: boolean
  /** Whether it can be asked for JSON that follows a schema. */
  readonly jsonSchema: boolean
  /** See `BoundRoute.reads`. */
  readonly reads: ReadonlySet<string>
  readonly takesEffort?: BoundRoute['takesEffort']
  readonly unsupported?: ParamPolicy['unsupported']
}

/** The route, and who is told of what it has no place for. */
export interface Target extends MessagesRoute, ParamPolicy {}

/** `cache_control` of a block or a tool, where the route takes it. */
export function markOf({ cache_control: mark }: JsonObject, target: Target): JsonObject {
  if (!isPresent(mark)) return {}
  if (target.reads.has('cache_control')) return { cache_control: mark }
  leaveOut('cache_control', target)
  return {}
}

export function nativeOnly(field: string, what: string) {
  return invalid(
    `${field}: only an upstream that speaks the messages API takes ${what}, and this model leads to another one`,
  )
}
