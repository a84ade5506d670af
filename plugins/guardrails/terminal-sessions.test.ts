import { expect, test } from 'bun:test'
import type { GuardedOperation, GuardedToolCall } from 'model-gateway/guardrail'
import { coreFilesystem } from '../../guardrail-packs/core-filesystem/index.ts'
import { judge } from './engine.ts'
import { createTerminalMemory } from './terminal-sessions.ts'

const policy = { scope: 'global', mode: 'deny', packs: [coreFilesystem], checks: [] } as const
const typing = (chars: string, session_id: number | string = 1): GuardedToolCall => ({
  tool: 'write_stdin',
  arguments: JSON.stringify({ session_id, chars }),
})
const sending = (...keys: string[]): GuardedToolCall => ({
  tool: 'send-keys',
  arguments: JSON.stringify({ paneId: '%1', keys }),
})

function setUp() {
  let now = 0
  const terminals = createTerminalMemory(() => now)
  const verdict = async (
    calls: readonly GuardedToolCall[],
    more: Partial<GuardedOperation> = { phase: 'mcp_call', caller: 'ada' },
  ) => {
    const operation: GuardedOperation = {
      phase: 'generated_tool_call',
      requestId: 'r',
      content: { kind: 'tool_calls', calls },
      ...more,
    }
    const tools = { now: () => now, fault: () => {}, terminals }
    return (await judge(policy, operation, tools)).denial === undefined ? 'allow' : 'deny'
  }
  const wait = (ms: number) => {
    now += ms
  }
  return { verdict, wait }
}

test('pieces for one terminal in one reply are judged as one text', async () => {
  const { verdict } = setUp()
  const reply = { phase: 'generated_tool_call' } as const
  expect(await verdict([typing('r'), typing('m -rf /srv\n')], reply)).toBe('deny')
  expect(await verdict([sending('r'), sending('m -rf x', 'Enter')], reply)).toBe('deny')
  expect(await verdict([typing('r', 1), typing('m -rf /srv\n', 2)], reply)).toBe('allow')
  expect(await verdict([typing('echo r'), typing('m -rf /srv\n')], reply)).toBe('allow')
})

test('the pieces of earlier turns are in the request', async () => {
  const { verdict } = setUp()
  const reply = { phase: 'generated_tool_call', earlier: () => [typing('r')] } as const
  expect(await verdict([typing('m -rf /srv\n')], reply)).toBe('deny')
  expect(await verdict([typing('ls\n', 2)], reply)).toBe('allow')
})

test('text typed by separate calls is remembered per caller', async () => {
  const { verdict } = setUp()
  expect(await verdict([typing('x=rm\n')])).toBe('allow')
  expect(await verdict([typing('$x -rf /srv\n')])).toBe('deny')
  expect(await verdict([typing('$x -rf /srv\n')], { phase: 'mcp_call', caller: 'bob' })).toBe(
    'allow',
  )
})

test('denied text is not remembered, and denied earlier text does not deny other text', async () => {
  const { verdict } = setUp()
  expect(await verdict([typing('rm -rf /srv\n')])).toBe('deny')
  expect(await verdict([typing('ls\n')])).toBe('allow')
  const earlier = () => [typing('rm -rf /srv\n')]
  const reply = { phase: 'generated_tool_call', earlier } as const
  expect(await verdict([typing('ls\n')], reply)).toBe('allow')
})

test('a terminal is forgotten after half an hour', async () => {
  const { verdict, wait } = setUp()
  expect(await verdict([typing('r')])).toBe('allow')
  wait(31 * 60 * 1000)
  expect(await verdict([typing('m -rf /srv\n')])).toBe('allow')
})
