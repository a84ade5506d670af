import type { JsonObject } from './json.ts'

/**
 * `degraded`: requests are served, and something needs an operator. `failing`: they cannot be
 * served.
 */
export type HealthStatus = 'ok' | 'degraded' | 'failing'

/**
 * One part of what `GET /readyz` answers. From memory: it is asked often.
 *
 * @example const check: HealthCheck = { name: 'quota', check: () => ({ status: 'ok' }) }
 */
export interface HealthCheck {
  readonly name: string
  check(): { readonly status: HealthStatus; readonly details?: JsonObject }
}
