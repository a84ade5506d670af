import type { JsonObject } from './json.ts'

/** The request families that a provider can execute. Messages requests run as chat completions. */
export const families = ['chat_completions', 'responses', 'embeddings'] as const
export type Family = (typeof families)[number]

/** What a route can be asked to do; a flag that the config leaves out is true. */
export const routeFlags = [...families, 'stream', 'tools', 'vision', 'json_schema'] as const
export type RouteFlag = (typeof routeFlags)[number]

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
  readonly capabilities: Readonly<Record<RouteFlag, boolean>>
  /** For the provider to send with each call, over its `defaultHeaders`. */
  readonly extraHeaders: Readonly<Record<string, string>>
  /** For the provider to merge over the body that it sends. */
  readonly extraBody: Readonly<JsonObject>
  readonly compatibility: Readonly<JsonObject>
}
