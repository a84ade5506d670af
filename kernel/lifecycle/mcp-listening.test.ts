import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../plugin/index.ts'
import type { McpCall, McpServices } from './mcp-exchange.ts'
import { mayListen } from './mcp-listening.ts'

const server = { mcpServerId: 'one' }
const call = {
  incoming: { serverKey: 'tools', header: () => 'Bearer gwk_a.b' },
  server,
} as unknown as McpCall

function services(refusal: GatewayError | undefined, found: object | undefined) {
  const refuse = (isOfOwner: boolean) => {
    if (refusal !== undefined && (refusal.status === 403) === isOfOwner) throw refusal
  }
  return {
    identity: { authenticate: () => refuse(false) },
    accounting: { checkOwner: () => refuse(true) },
    registry: { find: () => found },
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
})
