/** Ids in the arguments of tool calls, with more digits than a number of JavaScript keeps. */
import { afterAll, expect, test } from 'bun:test'
import { type JsonObject, Secret } from 'model-gateway/plugin'
import { bytes, providerCall, setUpProvider, startUpstream } from 'model-gateway/testing'
import plugin from './index.ts'
import type { ApiStyle } from './styles.ts'

const upstream = await startUpstream()
const bench = await setUpProvider({
  plugin,
  type: 'cloud_b_ml',
  config: {
    region: 'eu-west-1',
    endpoint_url: new URL(upstream.url).origin,
    auth: { mode: 'bearer', token: new Secret('bedrock-key') },
  },
})
afterAll(async () => {
  await bench.dispose()
  await upstream.stop()
})

const INPUT = '{"channel":1234567890123456789}'
const unquoted = (reply: JsonObject) => JSON.stringify(reply).replace('"INPUT"', INPUT)
const native = { content: [{ type: 'tool_use', id: 'a', name: 'f', input: 'INPUT' }] }
const toolUse = { toolUseId: 'a', name: 'f', input: 'INPUT' }
const unified = { output: { message: { content: [{ toolUse }] } } }

test.each<[ApiStyle, JsonObject]>([
  ['runtime_unified', unified],
  ['runtime_native_invoke', native],
  ['edge_native_messages', native],
])('%s passes them on as they are, there and back', async (api_style, reply) => {
  upstream.script(bytes(unquoted(reply), 'application/json'))
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: INPUT } }
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: 'done' },
  ]
  const route = bench.bind({ compatibility: { cloud_b_ml: { api_style } } })
  const result = await route.execute.chat_completions?.(providerCall({ messages, max_tokens: 9 }))
  expect(upstream.journal.calls.at(-1)?.rawBody).toContain(`"input":${INPUT}`)
  expect(result).toMatchObject({
    body: { choices: [{ message: { tool_calls: [{ function: { arguments: INPUT } }] } }] },
  })
})
