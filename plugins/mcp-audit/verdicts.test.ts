import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { McpInvocationHandle } from 'model-gateway/mcp'
import type { Database } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import plugin from './index.ts'
import { callOf, replica, SESSION } from './replica.fixture.ts'

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { id, migrations = [] } = plugin.manifest
  database = await testDatabase.forPlugin(id, migrations)
})
afterAll(() => testDatabase?.drop())

async function rowOf(id: string) {
  const { sql, schema } = database
  const [row] = await sql`
    select i.status, i.policy_result, i.guardrail_decision_id, p.arguments_json -> 'body' as arguments
    from ${sql(`${schema}.mcp_tool_invocations`)} i
    left join ${sql(`${schema}.mcp_tool_invocation_payloads`)} p on p.invocation_id = i.id
    where i.id = ${id}`
  return row
}

let lastId = 0
/** A call of one replica that another replica cancels. */
async function begun() {
  const [first, other] = [replica(database), replica(database)]
  const jsonRpcId = String(++lastId)
  const call = callOf(jsonRpcId)
  const handle = await first.open(call)
  await first.write()
  const seen = (await other.reopen(SESSION, jsonRpcId)) as McpInvocationHandle
  return { id: call.invocationId, first, other, handle, seen }
}

const cancelled = { status: 'cancelled', latencyMs: 1, responseBytes: 0 } as const
const allowed = {
  policyResult: 'allowed',
  guardrailDecisionId: 'd-1',
  arguments: { q: 'MASKED' },
} as const
const denied = {
  policyResult: 'denied',
  guardrailDecisionId: 'd-2',
  arguments: { guardrail_denied: true },
} as const

/** How the replica with the call ends it, with the resulting status. */
const endings = [
  [
    'allowed, with a result',
    allowed,
    'success',
    (handle: McpInvocationHandle) =>
      handle.close({ status: 'success', latencyMs: 1, responseBytes: 9 }),
  ],
  [
    'denied',
    denied,
    'policy_denied',
    (handle: McpInvocationHandle) =>
      handle.close({ status: 'policy_denied', latencyMs: 1, responseBytes: 0 }),
  ],
  [
    'allowed, to be answered later',
    allowed,
    'cancelled',
    (handle: McpInvocationHandle) => handle.leave(),
  ],
] as const

describe.each(endings)('the verdict on a call that was %s', (_, verdict, status, end) => {
  const { policyResult, guardrailDecisionId, arguments: args } = verdict
  const judged = {
    policy_result: policyResult,
    guardrail_decision_id: guardrailDecisionId,
    arguments: args,
  }

  test('stays when a cancellation on another replica is written before it', async () => {
    const { id, first, other, handle, seen } = await begun()
    seen.close(cancelled)
    await other.write()
    handle.judged(verdict)
    end(handle)
    await first.write()
    expect(await rowOf(id)).toEqual({ status: 'cancelled', ...judged })
  })

  test('stays when a cancellation on another replica is written after it', async () => {
    const { id, first, other, handle, seen } = await begun()
    handle.judged(verdict)
    end(handle)
    await first.write()
    seen.close(cancelled)
    await other.write()
    expect(await rowOf(id)).toEqual({ status, ...judged })
  })

  test.each([
    ['the cancellation', 'cancelled'],
    ['the verdict', status],
  ])('stays when both are written at once, %s first', async (winner, expected) => {
    const { id, first, other, handle, seen } = await begun()
    handle.judged(verdict)
    end(handle)
    seen.close(cancelled)
    const order = winner === 'the verdict' ? [first, other] : [other, first]
    const { sql, schema } = database
    const writing: Promise<void>[] = []
    // The lock is granted in the order of the requests.
    await sql.begin(async (tx) => {
      await tx`select from ${tx(`${schema}.mcp_tool_invocations`)} where id = ${id} for update`
      for (const { write } of order) {
        writing.push(write())
        await Bun.sleep(50)
      }
    })
    await Promise.all(writing)
    expect(await rowOf(id)).toEqual({ status: expected, ...judged })
  })
})

test.each([
  ['in one batch', false],
  ['in two', true],
])('a verdict that comes after the cancellation counts, written %s', async (_, separately) => {
  const only = replica(database)
  const jsonRpcId = String(++lastId)
  const call = callOf(jsonRpcId)
  const handle = await only.open(call)
  await only.write()
  handle.close(cancelled)
  if (separately) await only.write()
  handle.judged(denied)
  handle.close({ status: 'policy_denied', latencyMs: 1, responseBytes: 0 })
  await only.write()
  expect(await rowOf(call.invocationId)).toEqual({
    status: 'cancelled',
    policy_result: 'denied',
    guardrail_decision_id: 'd-2',
    arguments: { guardrail_denied: true },
  })
})

test('a verdict on the result takes no place in what was denied before', async () => {
  const { id, first, other, handle, seen } = await begun()
  handle.judged({ policyResult: 'allowed', guardrailDecisionId: 'd-1' })
  handle.leave()
  seen.judged({ policyResult: 'denied', guardrailDecisionId: 'd-3' })
  seen.close({ status: 'policy_denied', latencyMs: 1, responseBytes: 0 })
  await other.write()
  await first.write()
  expect(await rowOf(id)).toMatchObject({
    status: 'policy_denied',
    policy_result: 'denied',
    guardrail_decision_id: 'd-3',
  })
})
