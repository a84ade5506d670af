import { expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { converseUsage, eventFrame } from '../../test/harness/upstream-clouds-aws.ts'
import { decodeEventStream } from '../_shared/event-stream.ts'
import { foldChat } from '../_shared/fold-chat.fixture.ts'
import { createToolNames, NAMES_OF_64 } from '../_shared/tool-names.ts'
import { chatFromUnified } from './unified-reply.ts'
import { chatChunksFromUnified } from './unified-stream.ts'

const call = { surface: 'chat_completions', body: { model: 'asked' }, requestId: 'r-1' }
const facts = { id: 'chatcmpl-1', model: 'up', names: createToolNames(NAMES_OF_64) }

function buffered(content: JsonValue[], stopReason = 'end_turn') {
  const reply = { output: { message: { content } }, stopReason, usage: converseUsage }
  const [choice] = chatFromUnified(reply, call, facts).choices as JsonObject[]
  return choice
}

async function streamed(events: readonly (readonly [type: string, payload: JsonObject])[]) {
  async function* source() {
    for (const [type, payload] of events) yield eventFrame(type, payload)
  }
  const frames = decodeEventStream(source(), () => {})
  const seams = { unknownEvent() {}, redact: (text: string) => text }
  const chunks = []
  for await (const batch of chatChunksFromUnified(frames, call, facts, seams)) {
    chunks.push(...batch)
  }
  return foldChat(chunks)
}

test('a text with citations is part of the content', () => {
  const cited = {
    content: [{ text: 'It is ' }, { text: 'tall.' }],
    citations: [{ title: 'Towers', location: { documentPage: { documentIndex: 0, start: 1 } } }],
  }
  const choice = buffered([
    { text: 'Look: ' },
    { citationsContent: cited },
    { citationsContent: { citations: [] } },
    { text: ' Indeed.' },
  ])
  expect(choice?.message).toEqual({ role: 'assistant', content: 'Look: It is tall. Indeed.' })
})

const search = { toolUseId: 's1', name: 'nova_grounding', type: 'server_tool_use' }
const weather = { toolUseId: 't1', name: 'weather' }

test('a tool that the service runs itself is no call of the caller’s', () => {
  const found = { toolUseId: 's1', type: 'nova_grounding_result', content: [{ json: { a: 1 } }] }
  const choice = buffered(
    [
      { toolUse: { ...search, input: { query: 'Oslo' } } },
      { toolResult: found },
      { text: 'Rain.' },
      { toolUse: { ...weather, input: { city: 'Oslo' } } },
    ],
    'tool_use',
  )
  const definition = { name: 'weather', arguments: '{"city":"Oslo"}' }
  expect(choice?.message).toEqual({
    role: 'assistant',
    content: 'Rain.',
    tool_calls: [{ id: 't1', type: 'function', function: definition }],
  })
})

test('nor is it one in a stream, where the calls that stand count from 0', async () => {
  const input = (contentBlockIndex: number, text: string) =>
    ['contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input: text } } }] as const
  const fold = await streamed([
    ['messageStart', { role: 'assistant' }],
    ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: search } }],
    input(0, '{"query":"Oslo"}'),
    ['contentBlockStop', { contentBlockIndex: 0 }],
    ['contentBlockStart', { contentBlockIndex: 1, start: { toolResult: { toolUseId: 's1' } } }],
    ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolResult: [{ text: 'x' }] } }],
    ['contentBlockStop', { contentBlockIndex: 1 }],
    ['contentBlockStart', { contentBlockIndex: 2, start: { toolUse: weather } }],
    input(2, '{"city":"Oslo"}'),
    ['contentBlockStop', { contentBlockIndex: 2 }],
    ['messageStop', { stopReason: 'tool_use' }],
  ])
  const definition = { name: 'weather', arguments: '{"city":"Oslo"}' }
  expect(fold.toolCalls).toEqual([{ id: 't1', type: 'function', function: definition }])
})
