import type { HealthCheck, HealthStatus, JsonObject } from '../plugin/index.ts'

/** A readiness request within this time means that a load balancer watches. */
const WATCHED_MS = 30_000
/** How long readiness says `draining` before connections are refused. */
const ANNOUNCE_MS = 5_000

const RANK: Readonly<Record<HealthStatus, number>> = { ok: 0, degraded: 1, failing: 2 }

export interface HealthSources {
  readonly checks: readonly HealthCheck[]
  configVersion(): string
  /** The last known state. While false, accounting spools, so that requests are still served. */
  databaseReachable(): boolean
  /** Called once when a check begins to throw. */
  fault(message: string, error: unknown): void
}

export interface Health {
  /** Whether the process is alive. */
  live(): Response
  /** Whether it can serve: 200 for `ok` and `degraded`, 503 for `failing` and `draining`. */
  ready(): Response
  /**
   * Sets the state `draining`. If a load balancer watches, waits for it to notice: up to five
   * seconds and at most half of `graceMs`. Resolves to the milliseconds left of `graceMs`.
   */
  drain(graceMs: number): Promise<number>
}

export function createHealth(sources: HealthSources): Health {
  let askedAt = Number.NEGATIVE_INFINITY
  let draining = false
  const throwing = new Set<HealthCheck>()

  function run(check: HealthCheck): { status: HealthStatus; details: JsonObject } {
    try {
      const { status, details = {} } = check.check()
      if (!Object.hasOwn(RANK, status)) throw new Error(`the check says '${status}'`)
      // Throws if it cannot be JSON, so that one check does not break the whole reply.
      JSON.stringify(details)
      throwing.delete(check)
      return { status, details }
    } catch (error) {
      if (!throwing.has(check)) sources.fault(`health check ${check.name} failed`, error)
      throwing.add(check)
      return { status: 'failing', details: { error: 'the check failed' } }
    }
  }

  function overall(): { status: HealthStatus; checks: JsonObject } {
    let worst: HealthStatus = sources.databaseReachable() ? 'ok' : 'degraded'
    const checks: Record<string, JsonObject> = {}
    for (const check of sources.checks) {
      const { status, details } = run(check)
      if (RANK[status] > RANK[worst]) worst = status
      checks[check.name] = { ...details, status }
    }
    return { status: worst, checks }
  }

  return {
    live: () => Response.json({ status: 'ok' }),
    ready() {
      askedAt = performance.now()
      const { status, checks } = overall()
      return Response.json(
        {
          status: draining ? 'draining' : status,
          config_version: sources.configVersion(),
          database: sources.databaseReachable() ? 'reachable' : 'unreachable',
          // Always current, because a gateway migrates at the start or does not start.
          migrations: 'current',
          checks,
        },
        {
          status: draining || status === 'failing' ? 503 : 200,
          headers: { 'cache-control': 'no-store' },
        },
      )
    },
    async drain(graceMs) {
      draining = true
      if (performance.now() - askedAt > WATCHED_MS) return graceMs
      const announceMs = Math.min(ANNOUNCE_MS, graceMs / 2)
      await Bun.sleep(announceMs)
      return graceMs - announceMs
    },
  }
}
