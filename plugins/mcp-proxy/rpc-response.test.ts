import { expect, test } from 'bun:test'
import { errorCodeOf, responsesIn, resultsIn, statusOf, toolOverhead } from './rpc-response.ts'

test('responses are distinguished from other messages, alone or in a batch', () => {
  const [result, error] = [
    { id: 1, result: {} },
    { id: 2, error: {} },
  ]
  expect(responsesIn([result, { method: 'm' }, 7, error])).toEqual([result, error])
  expect(responsesIn(result)).toEqual([result])
  expect(errorCodeOf({ error: { code: -32602 } })).toBe('jsonrpc_-32602')
  expect(errorCodeOf({ error: { code: 'x' } })).toBe('jsonrpc')
  expect(errorCodeOf({ result: {} })).toBeUndefined()
})

test('of all notifications only those of tasks may contain a result', () => {
  const told = (method: string) => ({ method, params: {} })
  const tasks = [told('notifications/tasks'), told('notifications/tasks/status')]
  const others = [told('notifications/tasks_changed'), told('notifications/progress')]
  expect(resultsIn([...tasks, ...others, { id: 1, result: {} }])).toEqual([
    ...tasks,
    { id: 1, result: {} },
  ])
})

test('the status of a call is what its response says', () => {
  expect(statusOf({ result: { isError: true } })).toBe('tool_error')
  expect(statusOf({ result: { isError: 'true' } })).toBe('success')
  expect(statusOf({ error: {} })).toBe('upstream_error')
})

test('tools weigh a quarter of a token for each byte of what a model reads of them', () => {
  const tool = {
    name: 'ü',
    description: 'd',
    inputSchema: { type: 'object' },
    annotations: { title: 'no' },
  }
  const bytes = Buffer.byteLength('{"name":"ü","description":"d","inputSchema":{"type":"object"}}')
  expect(toolOverhead({ result: { tools: [tool, tool] } })).toEqual({
    tools: 2,
    tokens: 2 * Math.ceil(bytes / 4),
  })
  expect(toolOverhead({ result: {} })).toBeUndefined()
})
