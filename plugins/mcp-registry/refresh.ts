import { type Attributes, type Meter, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type { AddressPolicy, Outbound } from 'model-gateway/http'
import type { McpAuthMode } from 'model-gateway/mcp'
import { type Clock, GatewayError, inTime } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import type { By } from './change-servers.ts'
import { repeatsCredentials } from './discovery/credentials.ts'
import { discover } from './discovery/discover.ts'
import { DiscoveryFailure } from './discovery/failure.ts'
import type { Outcome } from './discovery/outcome.ts'
import type { DiscoveryStore, Run } from './discovery-store.ts'
import { addressesOf } from './snapshot.ts'
import { findServer, type ServerRow, type ServerStore } from './store.ts'

/** Longest that one discovery may take. */
const RUN_LIMIT_MS = 120_000
/** Lease time, after which a replica that has not released the lease is considered dead. */
const LEASE_MS = RUN_LIMIT_MS + 30_000

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

export interface RefreshParts {
  readonly servers: Pick<ServerStore, 'find'>
  readonly store: DiscoveryStore
  readonly outbound: Outbound
  readonly modes: () => readonly McpAuthMode[]
  readonly policy: () => AddressPolicy
  /** Resolves when this gateway has the committed changes in memory. */
  readonly committed: () => Promise<void>
  readonly clock: Clock
  readonly meter: Meter
  readonly tracer: Tracer
  readonly log: Logger
  /** Aborts when the plugin is disposed. */
  readonly signal: AbortSignal
}

export interface Refresher {
  /**
   * Discovers the tools of a server again. A failed discovery is also a result. Throws `not_found`,
   * and `conflict` while another refresh of the server is running. `by`: absent for the schedule.
   */
  refresh(serverId: string, by?: By): Promise<Outcome>
}

export function createRefresher(parts: RefreshParts): Refresher {
  const { servers, store, outbound, modes, policy, clock, tracer, log } = parts
  const refreshes = parts.meter.createCounter('gateway.mcp.discovery.refreshes', {
    description: 'Discovery runs of MCP servers.',
  })
  const duration = parts.meter.createHistogram('gateway.mcp.discovery.refresh.duration', {
    unit: 's',
    description: 'Duration of a discovery run of an MCP server.',
    advice: { explicitBucketBoundaries: SECONDS },
  })

  /**
   * Does not connect, and reads no secret, if the server is disabled or requires the caller's
   * credentials.
   */
  async function look(server: ServerRow): Promise<Outcome> {
    if (server.status === 'disabled')
      return { status: 'disabled', summary: 'the server is disabled' }
    const mode = modes().find((candidate) => candidate.mode === server.auth_mode)
    if (mode === undefined) {
      return { status: 'failed', summary: `no plugin provides the auth mode ${server.auth_mode}` }
    }
    if (mode.kind === 'caller') {
      return {
        status: 'auth_required',
        summary: "the server requires each caller's own credentials",
      }
    }
    const limit = new AbortController()
    const late = new DiscoveryFailure('timeout: the discovery did not finish in time')
    const timer = setTimeout(() => limit.abort(late), RUN_LIMIT_MS)
    const signal = AbortSignal.any([parts.signal, limit.signal])
    try {
      const declared = { serverKey: server.server_key, authConfig: server.auth_config }
      const given = await inTime(Promise.resolve(mode.headers(declared, signal)), signal)
      if (given === undefined) throw signal.reason
      const headers = given.value
      const found = await discover(
        outbound,
        {
          serverUrl: server.server_url,
          addresses: addressesOf(server, policy()),
          timeoutMs: server.timeout_ms,
          headers,
        },
        signal,
      )
      if (repeatsCredentials(found.tools, headers)) {
        throw new DiscoveryFailure(
          "invalid tools: the tool list contains the gateway's credentials",
        )
      }
      return { status: 'success', ...found }
    } catch (error) {
      return failed(server, error)
    } finally {
      clearTimeout(timer)
    }
  }

  function failed(server: ServerRow, error: unknown): Outcome {
    if (error instanceof DiscoveryFailure) {
      return { status: 'failed', summary: error.message, upstreamStatus: error.upstreamStatus }
    }
    if (error instanceof GatewayError) return { status: 'failed', summary: error.message }
    const name = nameOf(error)
    log.error(
      { server_key: server.server_key, error: name },
      'discovery of an MCP server failed with an internal error',
    )
    return { status: 'failed', summary: `internal failure (${name})` }
  }

  /** Writes the outcome of a run. If the database rejects it, the run has failed. */
  async function commit(
    server: ServerRow,
    leaseId: string,
    run: Run,
    outcome: Outcome,
  ): Promise<Outcome> {
    try {
      return await store.commit(server, leaseId, run, outcome)
    } catch (error) {
      if (outcome.status !== 'success' || !isRefusal(error)) throw error
      const failure = { server_key: server.server_key, error: nameOf(error), code: codeOf(error) }
      log.error(failure, 'storing the result of a discovery failed')
      const summary = 'internal failure: the result could not be stored'
      return await store.commit(server, leaseId, run, { status: 'failed', summary })
    }
  }

  async function run(server: ServerRow, leaseId: string, by: By | undefined): Promise<Outcome> {
    const startedAt = clock.now()
    const began = performance.now()
    const span = tracer.startSpan('mcp.discovery.refresh', {
      attributes: {
        'gateway.mcp.server_id': server.id,
        'gateway.mcp.server_key': server.server_key,
        'gateway.mcp.upstream_auth_mode': server.auth_mode,
      },
    })
    let labels: Attributes = { server_id: server.id, result: 'error', status: 'failed' }
    try {
      const outcome = await look(server)
      const finished = { by, startedAt, finishedAt: clock.now() }
      const written = await commit(server, leaseId, finished, outcome)
      const result = written.status === 'success' ? 'success' : 'error'
      labels = { server_id: server.id, result, status: written.status }
      span.setAttribute('gateway.mcp.discovery.status', written.status)
      if (written.status === 'failed') {
        if (written.upstreamStatus !== undefined) {
          span.setAttribute('http.response.status_code', written.upstreamStatus)
        }
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      return written
    } finally {
      refreshes.add(1, labels)
      duration.record((performance.now() - began) / 1000, labels)
      span.end()
    }
  }

  return {
    async refresh(serverId, by) {
      await findServer(servers, serverId)
      const leaseId = await store.lease(serverId, LEASE_MS)
      if (leaseId === undefined) {
        throw new GatewayError('conflict', 'a refresh of this server is already running')
      }
      try {
        // Read under the lease, so that no outdated state is written.
        const server = await findServer(servers, serverId)
        return await run(server, leaseId, by)
      } finally {
        await store.release(serverId, leaseId).catch(() => {})
        // Replicas are notified; if that fails here, the next poll within a second finds the
        // change.
        await parts.committed().catch(() => {})
      }
    },
  }
}

/**
 * The only part of an unexpected error that may be logged, because the rest may quote the server.
 */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'Error'
}

/** Whether the database rejected the write. After a lost connection the result is unknown. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR'
}

/** The SQLSTATE of a database error. */
function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
