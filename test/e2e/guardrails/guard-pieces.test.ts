import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { sse, startUpstream, type Upstream } from '../../harness/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startTestGateway({
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
    guardrails: { default: { enabled: true, mode: 'deny', packs: ['core.shell'] } },
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

const frame = (data: JsonObject) => `data: ${JSON.stringify(data)}\n\n`

/** A stream of the responses API in which only the pieces say what the tool is called with. */
function inPieces(command: string): string[] {
  const item = { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'bash', arguments: '' }
  const pieces = JSON.stringify({ command }).match(/.{1,7}/g) ?? []
  return [
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    ...pieces.map((delta) => ({
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      item_id: 'fc_1',
      delta,
    })),
    { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } },
  ].map(frame)
}

/** A chat stream with a call in a message of its last chunk. */
function besidePieces(command: string): string[] {
  const call = { name: 'bash', arguments: JSON.stringify({ command }) }
  const tool_calls = [{ id: 'c', type: 'function', function: call }]
  const message = { role: 'assistant', content: null, tool_calls }
  const chunk = (choice: JsonObject) =>
    frame({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] })
  return [
    chunk({ delta: { role: 'assistant', content: 'ok' } }),
    chunk({ delta: {}, message, finish_reason: 'stop' }),
    'data: [DONE]\n\n',
  ]
}

const cases = [
  ['/v1/responses', inPieces, { input: 'x' }],
  ['/v1/chat/completions', besidePieces, { messages: [{ role: 'user', content: 'x' }] }],
] as const
test.each(cases)('of %s a call is judged that only %p tells', async (path, frames, body) => {
  const ask = async (command: string) => {
    upstream.script(sse(frames(command)))
    const response = await gateway.post(path, { model: 'm', stream: true, ...body })
    return [response.status, await response.text()] as const
  }
  const [status, text] = await ask('ls -la')
  expect([status, text.includes('bash')]).toEqual([200, true])
  const [denied, told] = await ask('shutdown now')
  expect([denied, told.includes('bash')]).toEqual([403, false])
})
