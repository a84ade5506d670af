import { describe, expect, test } from 'bun:test'
import { accountingErrors } from 'model-gateway/accounting'
import type { GuardPolicies, GuardPolicy } from 'model-gateway/guardrail'
import { GatewayError } from 'model-gateway/plugin'
import type { McpCall, McpServices } from './exchange.ts'
import { mayListen } from './listening.ts'

const server = { mcpServerId: 'one' }
const call = {
  incoming: { serverKey: 'tools', header: () => 'Bearer gwk_a.b' },
  server,
} as unknown as McpCall

const guard = { covers: () => true } as unknown as GuardPolicy
const policies = (policy?: GuardPolicy) => ({ forServer: () => policy }) as unknown as GuardPolicies

function services(
  refusal: GatewayError | undefined,
  found: object | undefined,
  guards = policies(),
) {
  const refuse = (isOfOwner: boolean) => {
    if (refusal !== undefined && (refusal.status === 403) === isOfOwner) throw refusal
  }
  return {
    identity: { authenticate: () => refuse(false) },
    accounting: { checkOwner: () => refuse(true) },
    registry: { find: () => found },
    lease: () => ({ guards, release() {} }),
  } as unknown as McpServices
}

describe('a stream on which a server speaks unasked', () => {
  test.each([
    ['may go on while key and server are what they were', undefined, server, true],
    ['ends with its key', new GatewayError('api_key_revoked', 'revoked'), server, false],
    [
      'ends with the budget of its service account',
      new GatewayError(accountingErrors.service_account_budget_required, 'none'),
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
    const before = { ...call, guards: policies() }
    const after = (policy?: GuardPolicy) => services(undefined, server, policies(policy))
    expect(await mayListen(before, after())).toBe(true)
    expect(await mayListen(before, after(guard))).toBe(false)
    const guards = policies(guard)
    const guarded = { ...call, guards, resultGuard: guard }
    expect(await mayListen(guarded, services(undefined, server, guards))).toBe(true)
    expect(await mayListen(guarded, after())).toBe(false)
    expect(await mayListen(guarded, after(guard))).toBe(false)
  })
})
