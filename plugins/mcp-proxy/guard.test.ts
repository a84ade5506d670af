import { expect, test } from 'bun:test'
import type { GuardPolicy } from 'model-gateway/guardrail'
import { guardCall } from './guard.ts'
import type { Invocation } from './invocation.ts'
import type { RpcMessage, ToolCall } from './json-rpc.ts'

test('a call that no policy looks at has no verdict', async () => {
  const policy = {
    covers: (phase: string) => phase === 'mcp_result',
    inspect: async () => ({ action: 'allow' }),
  } as unknown as GuardPolicy
  const told: string[] = []
  const invocation = {
    allowed: () => void told.push('allowed'),
    wentOn: () => void told.push('went on'),
  } as unknown as Invocation
  const message = { text: '{}' } as RpcMessage
  const call = { tool: 'read' } as ToolCall
  const facts = { server: {} as never, principal: {} as never, requestId: 'r', invocation }
  expect(await guardCall(policy, message, call, facts)).toBe(message)
  expect(told).toEqual([])
})
