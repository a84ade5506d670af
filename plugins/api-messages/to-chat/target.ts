import type { JsonObject } from 'model-gateway/plugin'
import { invalid, isPresent, leaveOut, type ParamPolicy } from 'model-gateway/wire'
import type { ChatTraits } from '../../_shared/convert-once.ts'

/** The route, and the report of members that it does not support. */
export interface Target extends ChatTraits, ParamPolicy {}

/** `cache_control` of a block or tool, if the route supports it. */
export function markOf({ cache_control: mark }: JsonObject, target: Target): JsonObject {
  if (!isPresent(mark)) return {}
  if (target.reads.has('cache_control')) return { cache_control: mark }
  leaveOut('cache_control', target)
  return {}
}

export function nativeOnly(field: string, what: string) {
  return invalid(
    `${field}: the upstream of this model does not have the messages API, which ${what} needs`,
  )
}
