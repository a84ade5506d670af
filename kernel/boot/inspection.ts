import type { Logger } from 'pino'
import type { LoadedConfig } from '../config/loaded.ts'
import { asked, contentFor, flagsOf } from '../lifecycle/steps.ts'
import {
  GatewayError,
  type Inspection,
  isJsonObject,
  type JsonObject,
  type PlanRequest,
  surfaces,
} from '../plugin/index.ts'
import type { Registry } from '../registry/registry.ts'
import { explainPlan } from '../routing/explain.ts'
import type { RouteRequest } from '../routing/resolve.ts'
import { chainsOf } from './extensions.ts'
import { prepareRuntime } from './runtime.ts'

/** The registry, present once the plugins are set up, and the accepted config. */
export interface Inspected {
  loaded: LoadedConfig
  registry?: Registry
}

export function inspectionOf(inspected: Inspected, log: Logger): Inspection {
  function registry(): Registry {
    if (inspected.registry === undefined) throw new Error('the plugins are not set up yet')
    return inspected.registry
  }
  return {
    plugins: () => registry().plugins,
    leftOut: () => registry().leftOut,
    surfaces: () =>
      registry()
        .all(surfaces)
        .map(({ id }) => id),
    chains: () => chainsOf(registry()),
    async plan(request) {
      const { runtime, dispose } = await prepareRuntime(inspected.loaded, registry(), log)
      try {
        const { principal } = request
        return explainPlan(runtime.catalog, { principal, ...read(request, registry()) })
      } finally {
        await dispose()
      }
    },
  }
}

function read(
  { surface: id, model, body }: PlanRequest,
  registry: Registry,
): Omit<RouteRequest, 'principal'> {
  const surface = registry.all(surfaces).find((one) => one.id === id)
  if (surface === undefined)
    throw new GatewayError('invalid_request', `surface "${id}" does not exist`)
  if (body === undefined) {
    if (model === undefined)
      throw new GatewayError('invalid_request', 'model is missing: send a model or body')
    return { selector: model, needed: flagsOf(surface) }
  }
  const json = model !== undefined && isJsonObject(body) ? { ...body, model } : body
  const rawBody = JSON.stringify(json)
  const call = surface.read({ json, rawBody, header: () => null })
  const decoded = { surface, read: call, json: json as JsonObject, rawBody }
  return asked(surface, call, contentFor(decoded))
}
