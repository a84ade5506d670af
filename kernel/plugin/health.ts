import type { JsonObject } from './json.ts'

/**
 * `degraded`: requests are served, but an operator should act. `failing`: requests cannot be
 * served.
 */
export type HealthStatus = 'ok' | 'degraded' | 'failing'

/**
 * One check of `GET /readyz`. Answer from memory: it is called often.
 *
 * @example const check: HealthCheck = { name: 'quota', check: () => ({ status: 'ok' }) }
 */
export interface HealthCheck {
  readonly name: string
  check(): { readonly status: HealthStatus; readonly details?: JsonObject }
}
