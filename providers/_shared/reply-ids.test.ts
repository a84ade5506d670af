import { expect, test } from 'bun:test'
import type { JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { streamEvent } from 'model-gateway/wire'
import { chatFromGoogle } from './google-content-reply.ts'
import { chatFromMessages } from './messages-reply.ts'
import { chatChunksFromMessages } from './messages-stream.ts'
import { ownReplyId, replyId, toolCallId } from './reply-ids.ts'
import { createToolNames, GOOGLE_NAMES, NAMES_OF_64 } from './tool-names.ts'

const UUID = '[\\da-f]{8}(-[\\da-f]{4}){3}-[\\da-f]{12}'
const chat: Pick<ProviderCall, 'body' | 'surface'> = {
  surface: 'chat_completions',
  body: { model: 'asked' },
}
const messages = { ...chat, surface: 'messages', requestId: 'r' }

test('an upstream id is kept, others are generated in the style of the API', () => {
  for (const call of [chat, messages]) expect(replyId(call, 'theirs')).toBe('theirs')
  for (const none of ['', null, undefined, 7] as (JsonValue | undefined)[]) {
    expect(replyId(chat, none)).toMatch(new RegExp(`^chatcmpl-${UUID}$`))
    expect(replyId(messages, none)).toMatch(new RegExp(`^msg_${UUID}$`))
    expect(toolCallId(none)).toMatch(new RegExp(`^call_${UUID}$`))
  }
  expect(toolCallId('t1')).toBe('t1')
  expect([ownReplyId(chat, 'a'), ownReplyId(messages, 'a')]).toEqual(['chatcmpl-a', 'msg_a'])
})

test('replies without ids', async () => {
  const names = createToolNames(NAMES_OF_64)
  const candidates = [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP' }]
  expect(chatFromGoogle({ candidates }, messages, createToolNames(GOOGLE_NAMES)).id).toStartWith(
    'msg_',
  )
  const use = { type: 'tool_use', name: 'f', input: {} }
  const reply = chatFromMessages({ content: [use] }, messages, 'cloud_b_ml', names)
  expect(reply.id).toStartWith('msg_')
  expect(JSON.stringify(reply)).toMatch(/"tool_calls":\[\{"id":"call_/)

  async function* events() {
    yield [
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 0, content_block: use },
      { type: 'message_stop' },
    ].map((event) => streamEvent(JSON.stringify(event)))
  }
  let text = ''
  for await (const batch of chatChunksFromMessages(events(), messages, 'cloud_b_ml', names)) {
    text += batch.map(({ data }) => data).join('\n')
  }
  expect(text).toStartWith('{"id":"msg_')
  expect(text).toMatch(/"tool_calls":\[\{"index":0,"id":"call_/)
})
