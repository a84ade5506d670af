import type { HealthCheck, HealthStatus, JsonObject } from '../plugin/index.ts'

/** How recent a question must be for its asker to count as somebody who watches. */
const WATCHED_MS = 30_000
/** How long those who watch are told that we leave before connections are refused. */
const ANNOUNCE_MS = 5_000

const RANK: Readonly<Record<HealthStatus, number>> = { ok: 0, degraded: 1, failing: 2 }

export interface HealthSources {
  readonly checks: readonly HealthCheck[]
  configVersion(): string
  /** From memory. Accounting spools while it is away, so that requests can still be served. */
  databaseReachable(): boolean
  /** Told once of a check that begins to throw. */
  fault(message: string, error: unknown): void
}

export interface Health {
  /** Whether the process lives. */
  live(): Response
  /** Whether it can serve: 200 for `ok` and `degraded`, 503 for `failing` and `draining`. */
  ready(): Response
  /**
   * From now on the gateway is `draining`. When somebody watches, a load balancer, this waits for
   * them to see it, for up to five seconds and half of `graceMs`. Resolves to what is left of it.
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
      // Throws for what is no JSON, which would cost the whole answer.
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
          // A gateway whose database needs migrating migrates it or does not start.
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
