import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { McpInvocationResult, McpVerdict } from 'model-gateway/mcp'
import type { Database, JsonValue } from 'model-gateway/plugin'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import plugin from './index.ts'
import { callOf, replica } from './replica.fixture.ts'

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { id, migrations = [] } = plugin.manifest
  database = await testDatabase.forPlugin(id, migrations)
})
afterAll(() => testDatabase?.drop())

/** Events of an open call. */
type Step = { readonly judged: McpVerdict } | { readonly closed: McpInvocationResult } | 'left'

/** The row and its payload, without ids and times. */
async function rowAfter(
  steps: readonly Step[],
  awaitsVerdict: boolean,
  before?: { readonly step: number; readonly write: 'flush' | 'write' },
) {
  const { sql, schema } = database
  const one = replica(database)
  const call = { ...callOf('1'), requestId: 'r', awaitsVerdict }
  const row = await one.open(call)
  for (const [n, step] of steps.entries()) {
    if (n === before?.step) await one[before.write]()
    if (step === 'left') row.leave()
    else if ('judged' in step) row.judged(step.judged)
    else row.close(step.closed)
  }
  await one.write()
  const [written] = await sql`
    select to_jsonb(i) - '{id,occurred_at,finished_at,held_until}'::text[] as row,
      to_jsonb(p) - 'invocation_id' as payload
    from ${sql(`${schema}.mcp_tool_invocations`)} i
    left join ${sql(`${schema}.mcp_tool_invocation_payloads`)} p on p.invocation_id = i.id
    where i.id = ${call.invocationId}`
  return written
}

const verdict: fc.Arbitrary<McpVerdict> = fc.oneof(
  fc.record({
    policyResult: fc.constantFrom('allowed', 'denied'),
    guardrailDecisionId: fc.constantFrom('d-1', 'd-2'),
  }),
  fc.constant({ policyResult: 'allowed' }),
)
const result: fc.Arbitrary<McpInvocationResult> = fc.record({
  status: fc.constantFrom('success', 'tool_error', 'cancelled'),
  latencyMs: fc.nat(99),
  responseBytes: fc.nat(99),
  result: fc.constantFrom<JsonValue>({ isError: false }, { content: [] }),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ judged: verdict }),
  fc.record({ closed: result }),
  fc.constant('left'),
)
/**
 * Whether a guard judges the call, and the following events; allowed arguments come with its
 * verdict.
 */
const history = fc.oneof(
  fc.tuple(fc.constant(false), fc.array(step, { maxLength: 4 })),
  fc.tuple(
    fc.constant(true),
    fc
      .tuple(verdict, fc.array(step, { maxLength: 3 }))
      .map(([first, rest]): Step[] => [
        { judged: { ...first, arguments: { q: 'MASKED' } } },
        ...rest,
      ]),
  ),
)

type Example = [[boolean, Step[]], { step: number; write: 'flush' | 'write' }]

/** In the same batch as the rest, or in a separate one. */
const before = fc.record({
  step: fc.nat(3),
  write: fc.constantFrom('flush' as const, 'write' as const),
})

const judged = (policyResult: 'allowed' | 'denied', guardrailDecisionId: string): Step => ({
  judged: { policyResult, guardrailDecisionId },
})
const success: Step = { closed: { status: 'success', latencyMs: 1, responseBytes: 1 } }
/**
 * Explicit examples, because random ones are rare: the later decision wins, except over a denial.
 */
const twoDecisions: Example = [
  [false, [judged('allowed', 'd-1'), 'left', judged('allowed', 'd-2'), success]],
  { step: 2, write: 'write' },
]
const denialFirst: Example = [
  [false, [judged('denied', 'd-1'), 'left', judged('allowed', 'd-2'), success]],
  { step: 2, write: 'write' },
]

test('a row that is written with its end is the row that is written before', async () => {
  await fc.assert(
    fc.asyncProperty(history, before, async ([awaitsVerdict, steps], written) => {
      const whole = await rowAfter(steps, awaitsVerdict)
      expect(await rowAfter(steps, awaitsVerdict, written)).toEqual(whole)
    }),
    { numRuns: 200, examples: [twoDecisions, denialFirst] },
  )
})
