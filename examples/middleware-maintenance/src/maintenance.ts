import type { Middleware, MiddlewareAt } from 'model-gateway/middleware'
import { type Clock, GatewayError } from 'model-gateway/plugin'
import { closedBy, nextFor, type Window } from './windows.ts'

export interface MaintenanceSettings {
  readonly windows: readonly Window[]
  readonly notice_minutes: number
  readonly retry_after_seconds: number
}

/** State key under which `door` leaves the next window for `notice`. */
export const UPCOMING = 'maintenance.upcoming'

/**
 * Two middlewares: `door` at `admit`, when the model is known but nothing has been charged or
 * called, and `notice` at `respond`, which announces the next window to callers.
 */
export function createMaintenance(
  { windows, notice_minutes, retry_after_seconds }: MaintenanceSettings,
  clock: Clock,
): readonly Middleware[] {
  const door: MiddlewareAt<'admit'> = {
    id: 'maintenance.door',
    around: 'admit',
    async handle({ resolvedModel, state }, next) {
      const now = clock.now().getTime()
      const closed = closedBy(windows, resolvedModel, now)
      if (closed !== undefined) {
        const seconds = Math.ceil((closed.until - now) / 1000)
        // A `GatewayError` reaches the caller with this code, status 503 and this message.
        throw new GatewayError(
          'no_routes_available',
          `the model is closed for maintenance until ${iso(closed.until)}`,
          { headers: { 'retry-after': String(Math.min(seconds, retry_after_seconds)) } },
        )
      }
      const upcoming = nextFor(windows, resolvedModel, now, notice_minutes * 60_000)
      if (upcoming !== undefined) state.set(UPCOMING, iso(upcoming.from))
      await next()
    },
  }

  const notice: MiddlewareAt<'respond'> = {
    id: 'maintenance.notice',
    around: 'respond',
    async handle({ state, setHeader }, next) {
      const from = state.get(UPCOMING)
      // Headers can be added only before `next`, which sends them.
      if (typeof from === 'string') setHeader('x-maintenance-from', from)
      await next()
    },
  }

  // Without windows no middleware is registered, so requests cost nothing.
  return windows.length === 0 ? [] : [door, notice]
}

function iso(time: number): string {
  return new Date(time).toISOString()
}
