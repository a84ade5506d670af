import type { Logger } from 'pino'
import type { LoadedConfig } from '../config/loaded.ts'
import { messagesOver } from '../lifecycle/messages-over.ts'
import { GatewayError, type Inspection, type PlanRequest } from '../plugin/index.ts'
import type { Registry } from '../registry/registry.ts'
import { explainPlan } from '../routing/explain.ts'
import type { RouteRequest } from '../routing/resolve.ts'
import { readMessages } from '../wire/messages-request.ts'
import { readRequest } from '../wire/request.ts'
import { chainsOf } from './extensions.ts'
import { prepareRuntime } from './runtime.ts'

/** What there is to inspect: a registry once the plugins are set up, and the accepted config. */
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
    chains: () => chainsOf(registry()),
    async plan(request) {
      const { runtime, dispose } = await prepareRuntime(inspected.loaded, registry(), log)
      try {
        const { principal } = request
        return explainPlan(runtime.catalog, { principal, ...read(request) })
      } finally {
        await dispose()
      }
    },
  }
}

function read({ surface, model, body }: PlanRequest): Omit<RouteRequest, 'principal'> {
  const family = surface === 'messages' ? 'chat_completions' : surface
  if (body === undefined) {
    if (model === undefined)
      throw new GatewayError('invalid_request', 'there is no model to ask for')
    return { selector: model, needed: [family] }
  }
  const whole =
    model !== undefined && typeof body === 'object' && body !== null && !Array.isArray(body)
      ? { ...body, model }
      : body
  if (surface !== 'messages') {
    const { model: selector, requirements: needed } = readRequest(family, whole)
    return { selector, needed }
  }
  const messages = readMessages(whole, null)
  const { model: selector, requirements: needed } = messages
  return { selector, needed, refusal: messagesOver(messages).refusal }
}
