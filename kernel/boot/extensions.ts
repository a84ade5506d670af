import { metrics } from '@opentelemetry/api'
import type { Logger } from 'pino'
import type { Chains, ChainTools } from '../lifecycle/chain.ts'
import { compileChains } from '../lifecycle/compile-chains.ts'
import { createObservation, type ObserverFailed } from '../lifecycle/observe.ts'
import {
  dialects,
  type ExchangeRecorder,
  exchangeRecorders,
  type HealthCheck,
  type HttpRoute,
  httpRouteLists,
  httpRoutes,
  middleware,
  observers,
  type Surface,
  surfaces,
} from '../plugin/index.ts'
import type { Registry } from '../registry/registry.ts'
import { StartError } from './errors.ts'

const MIDDLEWARE_DEADLINE_MS = 5_000

/** The middleware chains. Throws StartError. */
export function chainsOf(registry: Pick<Registry, 'provided'>): Chains {
  const links = registry
    .provided(middleware)
    .map(({ plugin, implementation }) => ({ plugin, middleware: implementation }))
  try {
    return compileChains(
      links,
      registry.provided(surfaces).map(({ implementation }) => implementation.id),
    )
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

/** The surfaces. Throws StartError if no loaded plugin declares the dialect of one. */
export function surfacesOf(registry: Pick<Registry, 'provided'>): readonly Surface[] {
  const known = registry.provided(dialects).map(({ implementation }) => implementation.id)
  return registry.provided(surfaces).map(({ plugin, implementation: surface }) => {
    const { id, operation, capability = operation } = surface
    const unknown = [operation, capability].find((flag) => !known.includes(flag))
    if (unknown === undefined) return surface
    throw new StartError(
      `plugin "${plugin}": the operation "${unknown}" of the surface "${id}" is not a dialect that a loaded plugin declares`,
    )
  })
}

/**
 * All HTTP routes of plugins, without the paths of surfaces. Throws StartError if two plugins serve
 * the same route.
 */
export function httpRoutesOf(registry: Pick<Registry, 'provided'>): readonly HttpRoute[] {
  const provided = registry.provided(httpRoutes)
  const late = registry.provided(httpRouteLists).flatMap(({ plugin, implementation }) => {
    try {
      return implementation.routes().map((route) => ({ plugin, implementation: route }))
    } catch (cause) {
      const message = `plugin "${plugin}" failed to list its routes: ${(cause as Error).message}`
      throw new StartError(message, { cause })
    }
  })
  const owners = new Map<string, string>()
  const claim = (plugin: string, claims: readonly string[] = []) => {
    for (const one of claims) {
      const owner = owners.get(one)
      if (owner !== undefined) {
        throw new StartError(`plugins "${owner}" and "${plugin}" both serve ${one}`)
      }
      owners.set(one, plugin)
    }
  }
  for (const { plugin, implementation } of registry.provided(surfaces)) {
    claim(plugin, surfaces.claims?.(implementation))
  }
  for (const { plugin, implementation } of [...provided, ...late]) {
    claim(plugin, httpRoutes.claims?.(implementation))
  }
  return [...provided, ...late].map(({ implementation }) => implementation)
}

/** The recorders of the plugins; their failures are counted and logged. */
export function recordersOf(
  registry: Pick<Registry, 'provided'>,
  log: Logger,
): readonly ExchangeRecorder[] {
  const failures = metrics.getMeter('gateway').createCounter('gateway.recorder.failures', {
    description: 'Finished requests that a recorder failed to record.',
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
          // TypeScript accepts an async function where the type returns void.
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

/** Calls the observers of the plugins; their failures are counted and logged. */
export function observationOf(registry: Pick<Registry, 'provided'>, log: Logger) {
  const failures = metrics.getMeter('gateway').createCounter('gateway.observer.failures', {
    description: 'Calls of an observer that failed.',
  })
  const failed: ObserverFailed = (plugin, err, requestId) => {
    failures.add(1, { plugin })
    log.error({ plugin, err, request_id: requestId }, 'an observer failed')
  }
  const named = registry
    .provided(observers)
    .map(({ plugin, implementation }) => ({ plugin, observer: implementation }))
  return createObservation(named, failed)
}

/** The readiness check for plugins that were left out; empty if all have started. */
export function leftOutCheck({ leftOut }: Pick<Registry, 'leftOut'>): readonly HealthCheck[] {
  if (leftOut.length === 0) return []
  // Without the reasons, because anyone who can reach the port can read this.
  const details = { left_out: leftOut.map(({ id }) => id) }
  return [{ name: 'plugins', check: () => ({ status: 'degraded', details }) }]
}
