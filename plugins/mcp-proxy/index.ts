import { accounting } from 'model-gateway/accounting'
import { httpRoutes } from 'model-gateway/http'
import { identity } from 'model-gateway/identity'
import { definePlugin, optional, strictObject } from 'model-gateway/plugin'
import * as contract from './contract.ts'
import { errors } from './errors.ts'
import { usualMcpLimits } from './exchange.ts'
import { createMcpObservation } from './observe.ts'
import { createMcpRoute } from './plane.ts'
import { createMcpProxy, type McpProxy } from './proxy.ts'

const { mcpAudit, mcpAuthModes, mcpObservers, mcpRegistry } = contract

/** The way to registered MCP servers. */
export default definePlugin({
  manifest: {
    id: 'plugin.mcp-proxy',
    version: '0.1.0',
    contract: 1,
    summary: 'Proxies calls to registered MCP servers, with access checks, guardrails and audit.',
    config: strictObject({}),
    errors,
    needs: ['door', 'outbound', 'runtime'],
    uses: {
      identity,
      accounting: optional(accounting),
      registry: optional(mcpRegistry),
      authModes: mcpAuthModes,
      audit: optional(mcpAudit),
      observers: mcpObservers,
    },
  },
  contracts: { 'model-gateway/mcp': contract },
  setup(ctx) {
    const { door, log, outbound, runtime, uses } = ctx
    let made: McpProxy | undefined
    function proxy(): McpProxy {
      made ??= createMcpProxy({
        lease: runtime.lease,
        identity: uses.identity(),
        accounting: uses.accounting(),
        registry: uses.registry(),
        authModes: uses.authModes(),
        audit: uses.audit(),
        send: outbound.fetch,
        trace: createMcpObservation(uses.observers(), (err, requestId) =>
          log.error({ err, request_id: requestId }, 'an observer of MCP requests failed'),
        ),
        door,
        limits: usualMcpLimits,
        fault: (message, err, requestId) => log.error({ err, request_id: requestId }, message),
      })
      return made
    }
    ctx.provide(httpRoutes, createMcpRoute(proxy))
    door.draining.addEventListener('abort', () => made?.endStreams(), { once: true })
  },
})
