import { metrics } from '@opentelemetry/api'
import type { Logger } from 'pino'
import type { Chains, ChainTools } from '../lifecycle/chain.ts'
import { compileChains } from '../lifecycle/compile-chains.ts'
import { createSinks, type SinkFailure, type Sinks } from '../lifecycle/sinks.ts'
import {
  type AdminRoute,
  accountingSinks,
  adminModules,
  type ExchangeRecorder,
  exchangeRecorders,
  type HealthCheck,
  middleware,
} from '../plugin/index.ts'
import { contain } from '../registry/contain.ts'
import type { Registry } from '../registry/registry.ts'
import { StartError } from './errors.ts'

const MIDDLEWARE_DEADLINE_MS = 5_000
const SINK_DEADLINE_MS = 10_000
const MOST_WAITING = 10_000
/** Failures of one sink within this time share a log line. */
const SAY_AGAIN_MS = 10_000

/** The chains of what the plugins provide. Throws StartError. */
export function chainsOf(registry: Pick<Registry, 'provided'>): Chains {
  const links = registry
    .provided(middleware)
    .map(({ plugin, implementation }) => ({ plugin, middleware: implementation }))
  try {
    return compileChains(links)
  } catch (error) {
    throw new StartError((error as Error).message)
  }
}

export function createChainTools(log: Logger): ChainTools {
  const faults = metrics.getMeter('gateway').createCounter('gateway.middleware.faults', {
    description: 'Requests that failed because a middleware threw, hung or broke its contract.',
  })
  return {
    deadlineMs: MIDDLEWARE_DEADLINE_MS,
    fault({ plugin, middleware: { id, around } }, err, requestId) {
      faults.add(1, { plugin, middleware: id, seam: around })
      log.error(
        { plugin, middleware: id, seam: around, err, request_id: requestId },
        'a middleware failed',
      )
    },
  }
}

/** Longer than a discovery of an MCP server may take. */
const ROUTE_DEADLINE_MS = 180_000

type RouteFacts = Omit<AdminRoute, 'handle'>

/** Asked for one by one: what an object of a class says is not all its own. */
function factsOf(route: AdminRoute): RouteFacts {
  const facts: { [K in keyof Required<RouteFacts>]: RouteFacts[K] } = {
    method: route.method,
    path: route.path,
    audience: route.audience,
    tag: route.tag,
    summary: route.summary,
    params: route.params,
    query: route.query,
    body: route.body,
    allowsNul: route.allowsNul,
    status: route.status,
    result: route.result,
    contentType: route.contentType,
    replyHeaders: route.replyHeaders,
    errors: route.errors,
  }
  return facts as RouteFacts
}

/** The routes of the plugins' admin modules; one that hangs is given up, and named in the log. */
export function adminRoutesOf(
  registry: Pick<Registry, 'provided'>,
  log: Logger,
  deadlineMs = ROUTE_DEADLINE_MS,
): readonly AdminRoute[] {
  return registry.provided(adminModules).flatMap(({ plugin, implementation }) =>
    implementation.routes.map((route) => {
      const call = `${route.method} ${route.path} of plugin "${plugin}"`
      return {
        ...factsOf(route),
        handle: (request: Parameters<typeof route.handle>[0]) =>
          contain({ call, deadlineMs, log }, () => route.handle(request)),
      }
    }),
  )
}

/** The plugins' recorders, with their faults counted and logged. */
export function recordersOf(
  registry: Pick<Registry, 'provided'>,
  log: Logger,
): readonly ExchangeRecorder[] {
  const failures = metrics.getMeter('gateway').createCounter('gateway.recorder.failures', {
    description: 'Finished exchanges that a recorder failed at.',
  })
  return registry.provided(exchangeRecorders).map(({ plugin, implementation: recorder }) => {
    const failed = (err: unknown, requestId?: string) => {
      failures.add(1, { plugin })
      log.error({ plugin, err, request_id: requestId }, 'a recorder failed')
    }
    return {
      streamEventLimit() {
        try {
          const limit = recorder.streamEventLimit?.() ?? 0
          if (limit >= 0) return limit
          throw new Error(`its streamEventLimit is ${limit}`)
        } catch (error) {
          failed(error)
          return 0
        }
      },
      record(exchange) {
        try {
          // An async function passes for one that gives nothing.
          const recorded: unknown = recorder.record(exchange)
          if (recorded instanceof Promise) {
            recorded.catch((error) => failed(error, exchange.requestId))
          }
        } catch (error) {
          failed(error, exchange.requestId)
        }
      },
    }
  })
}

/** Tells the plugins' sinks of settled calls; undefined when there is none. */
export function sinksOf(registry: Pick<Registry, 'provided'>, log: Logger): Sinks | undefined {
  const sinks = registry
    .provided(accountingSinks)
    .map(({ plugin, implementation }) => ({ plugin, sink: implementation }))
  const failures = metrics.getMeter('gateway').createCounter('gateway.accounting_sink.failures', {
    description: 'Settled calls that an accounting sink failed at, or was not told of.',
  })
  const said = new Map<string, { at: number; unsaid: number }>()
  return createSinks(sinks, {
    deadlineMs: SINK_DEADLINE_MS,
    mostWaiting: MOST_WAITING,
    failed(plugin: string, failure: SinkFailure, err: unknown) {
      failures.add(1, { plugin, failure })
      const last = said.get(plugin) ?? { at: Number.NEGATIVE_INFINITY, unsaid: 0 }
      const now = performance.now()
      if (now - last.at < SAY_AGAIN_MS) {
        last.unsaid++
        return
      }
      said.set(plugin, { at: now, unsaid: 0 })
      log.error({ plugin, failure, err, before: last.unsaid }, 'an accounting sink failed')
    },
  })
}

/** What readiness says of plugins that were left out; nothing when all have started. */
export function leftOutCheck({ leftOut }: Pick<Registry, 'leftOut'>): readonly HealthCheck[] {
  if (leftOut.length === 0) return []
  // Without the reasons: whoever can reach the port can ask.
  const details = { left_out: leftOut.map(({ id }) => id) }
  return [{ name: 'plugins', check: () => ({ status: 'degraded', details }) }]
}
