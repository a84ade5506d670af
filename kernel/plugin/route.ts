import type { JsonObject } from './json.ts'

/** What calls of any operation may need of a route. */
export const features = ['stream', 'tools', 'vision', 'json_schema'] as const
export type Feature = (typeof features)[number]

/**
 * What routes can be asked to do, by name: the operations of the dialects that the loaded plugins
 * declare, and `features`. A flag that the config leaves out is true.
 */
export type RouteFlags = Readonly<Record<string, boolean>>

/** What identifies a route, and tells the routes of a model apart. */
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
  /** For the provider to send with each call, over its `defaultHeaders`. */
  readonly extraHeaders: Readonly<Record<string, string>>
  /** For the provider to merge over the body that it sends. */
  readonly extraBody: Readonly<JsonObject>
  /** Members that the kernel takes out of each request. */
  readonly dropParams?: readonly string[]
  /** What becomes of members that a conversion has no place for; absent: meaning decides. */
  readonly unsupportedParams?: 'drop' | 'reject'
  readonly compatibility: Readonly<JsonObject>
}
