/** Names of tools in calls that came by the messages API, whose names may be twice as long. */
import { expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { collectEvents, json, providerCall, sse } from 'model-gateway/testing'
import { setUpCompat } from './__fixtures__/set-up.ts'

const { upstream, bench } = await setUpCompat()

const LONG = 'mcp__plugin_tracker_tracker__createComponentRelationshipForCurrentItem'
const tool = (name: string) => ({ type: 'function', function: { name } })
const body = (stream: boolean, name: string) => ({
  model: 'asked',
  stream,
  tools: [tool(name), tool('short')],
  tool_choice: tool(name),
  messages: [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'a', ...tool(name) }] },
    { role: 'tool', tool_call_id: 'a', content: `"${name}"` },
  ],
})
/** An answer that calls the tool which the call names. */
const called = (x: { call: { body: unknown } }) => {
  const { tools } = x.call.body as { tools: { function: { name: string } }[] }
  return { index: 0, id: 'b', type: 'function', function: { name: tools[0]?.function.name ?? '' } }
}

async function run(surface: string, stream: boolean, name = LONG) {
  upstream.always((x) => {
    const calls = { tool_calls: [called(x)] }
    const chunk = { choices: [{ index: 0, delta: calls, finish_reason: 'tool_calls' }] }
    return stream
      ? sse([`data: ${JSON.stringify(chunk)}\n\n`, 'data: [DONE]\n\n'])(x)
      : json({ choices: [{ index: 0, message: calls, finish_reason: 'tool_calls' }] })(x)
  })
  const execute = bench.bind({}).execute.chat_completions
  const result = await execute?.({ ...providerCall(body(stream, name)), surface })
  if (result === undefined) throw new Error('the route does not chat')
  const said =
    result.kind === 'stream'
      ? (await collectEvents(result)).map(({ data }) => data).join('')
      : `${JSON.stringify(result.body)}${result.rawBody ?? ''}`
  return { said, sent: upstream.journal.calls[0]?.body as JsonObject }
}

test.each([false, true])('are shortened and mapped back; streamed: %j', async (stream) => {
  const { said, sent } = await run('messages', stream)
  const [short] = /mcp__\w+/.exec(JSON.stringify(sent)) ?? []
  expect(short).toHaveLength(64)
  expect(sent).toMatchObject({
    tools: [tool(short as string), tool('short')],
    tool_choice: tool(short as string),
    messages: [{}, { tool_calls: [tool(short as string)] }, { content: `"${LONG}"` }],
  })
  expect(said).toContain(`"${LONG}"`)
  expect(said).not.toContain(short as string)
})

test('are kept if valid, and in chat completions calls', async () => {
  expect((await run('messages', false, 'weather')).sent).toMatchObject({
    tool_choice: tool('weather'),
  })
  upstream.clear()
  expect((await run('chat_completions', false)).sent).toMatchObject({ tool_choice: tool(LONG) })
})
