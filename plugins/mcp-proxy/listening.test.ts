import { describe, expect, test } from 'bun:test'
import { GatewayError, type GuardPolicy } from 'model-gateway/plugin'
import type { Runtime } from '../../kernel/lifecycle/exchange.ts'
import type { McpCall, McpServices } from './exchange.ts'
import { mayListen } from './listening.ts'

const server = { mcpServerId: 'one' }
const call = {
  incoming: { serverKey: 'tools', header: () => 'Bearer gwk_a.b' },
  server,
} as unknown as McpCall

const guard = { covers: () => true } as unknown as GuardPolicy
const running = (policy?: GuardPolicy) => ({ guardOfServer: () => policy }) as unknown as Runtime

function services(
  refusal: GatewayError | undefined,
  found: object | undefined,
  runtime = running(),
) {
  const refuse = (isOfOwner: boolean) => {
    if (refusal !== undefined && (refusal.status === 403) === isOfOwner) throw refusal
  }
  return {
    identity: { authenticate: () => refuse(false) },
    accounting: { checkOwner: () => refuse(true) },
    registry: { find: () => found },
    lease: () => ({ runtime, release() {} }),
  } as unknown as McpServices
}

describe('a stream on which a server speaks unasked', () => {
  test.each([
    ['may go on while key and server are what they were', undefined, server, true],
    ['ends with its key', new GatewayError('api_key_revoked', 'revoked'), server, false],
    [
      'ends with the budget of its service account',
      new GatewayError('service_account_budget_required', 'none'),
      server,
      false,
    ],
    ['ends with its server', undefined, undefined, false],
    ['ends when another server takes the name', undefined, { mcpServerId: 'two' }, false],
    ['outlasts a database', new GatewayError('store_unavailable', 'away'), server, true],
  ] as const)('%s', async (_, refusal, found, may) => {
    expect(await mayListen(call, services(refusal, found))).toBe(may)
  })

  test('ends with the config that it began with, where either has a policy for its server', async () => {
    const before = { ...call, runtime: running() }
    const after = (policy?: GuardPolicy) => services(undefined, server, running(policy))
    expect(await mayListen(before, after())).toBe(true)
    expect(await mayListen(before, after(guard))).toBe(false)
    const runtime = running(guard)
    const guarded = { ...call, runtime, resultGuard: guard }
    expect(await mayListen(guarded, services(undefined, server, runtime))).toBe(true)
    expect(await mayListen(guarded, after())).toBe(false)
    expect(await mayListen(guarded, after(guard))).toBe(false)
  })
})
