import type { JsonObject } from './json.ts'

/** Features that calls of any operation may need. */
export const features = ['stream', 'tools', 'vision', 'json_schema'] as const
export type Feature = (typeof features)[number]

/**
 * Capability flags of a route: the operations of the loaded dialects, and `features`. A flag that
 * the config omits is true.
 */
export type RouteFlags = Readonly<Record<string, boolean>>

/** The fields that identify a route within its model. */
export function routeId(model: string, provider: string, upstreamModel: string): string {
  return `${model}/${provider}/${upstreamModel}`
}

/** One entry of a model's `routes`, as configured. */
export interface RouteSpec {
  /** `{model}/{provider}/{upstream_model}` */
  readonly id: string
  readonly model: string
  readonly provider: string
  readonly upstreamModel: string
  readonly priority: number
  readonly weight: number
  readonly enabled: boolean
  readonly capabilities: RouteFlags
  /** To be sent with each call; overrides `defaultHeaders`. */
  readonly extraHeaders: Readonly<Record<string, string>>
  /** To be merged into the request body, which it overrides. */
  readonly extraBody: Readonly<JsonObject>
  /** Members that the kernel removes from each request. */
  readonly dropParams?: readonly string[]
  /** What to do with members that a conversion does not support; absent: depends on the member. */
  readonly unsupportedParams?: 'drop' | 'reject'
  readonly compatibility: Readonly<JsonObject>
}
