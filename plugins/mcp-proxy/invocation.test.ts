import { expect, test } from 'bun:test'
import { GuardDenial } from 'model-gateway/guardrail'
import type { McpAudit, McpInvocationHandle, McpVerdict } from './contract.ts'
import { type InvocationFacts, openInvocation } from './invocation.ts'

const denial = () =>
  new GuardDenial({ action: 'deny', decisionId: 'd1', reasonCode: 'r', message: 'no' })

/** A call that a guard judges, and the stored verdicts. */
async function open() {
  const verdicts: McpVerdict[] = []
  const closed = Promise.withResolvers<void>()
  const handle: McpInvocationHandle = {
    openedAt: new Date(),
    judged: (verdict) => void verdicts.push(verdict),
    leave() {},
    close: () => closed.resolve(),
  }
  const audit = { open: async () => handle } as unknown as McpAudit
  const facts = {
    incoming: { requestId: 'r', header: () => null },
    server: { mcpServerId: 's1', serverKey: 'files', tools: new Map() },
    message: {},
    call: { tool: 'read', arguments: { path: 'secret' } },
    guarded: true,
  } as unknown as InvocationFacts
  const invocation = await openInvocation(audit, facts, () => [])
  return { invocation, verdicts, closed: closed.promise }
}

test('denied arguments are not stored', async () => {
  const { invocation, verdicts, closed } = await open()
  invocation.failed(denial())
  await closed
  expect(verdicts).toMatchObject([
    { policyResult: 'denied', arguments: { guardrail_denied: true, decision_id: 'd1' } },
  ])
})

test('arguments that went to the server are kept when its result is denied', async () => {
  const { invocation, verdicts, closed } = await open()
  invocation.wentOn({ path: 'masked' })
  invocation.failed(denial())
  await closed
  expect(verdicts).toEqual([
    { policyResult: 'allowed', arguments: { path: 'masked' } },
    { policyResult: 'denied', guardrailDecisionId: 'd1' },
  ])
})
