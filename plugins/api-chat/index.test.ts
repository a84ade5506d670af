import { testSurface } from 'model-gateway/testing'
import { streamEvent } from 'model-gateway/wire'
import plugin from './index.ts'

const request = {
  model: 'fast',
  stream: true,
  messages: [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: [{ type: 'text', text: 'Where do rivers run?' }] },
  ],
  tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }],
  response_format: { type: 'text' },
}
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const call = { id: 'c1', type: 'function', function: { name: 'look_up', arguments: '{}' } }
const chunk = (choices: readonly object[], more: object = {}) =>
  streamEvent(
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'upstream',
      choices,
      ...more,
    }),
  )

testSurface({
  plugin,
  surfaces: {
    chat_completions: {
      takes: [request],
      refuses: [
        { body: { model: 'fast' }, field: 'messages' },
        { body: { ...request, stream: 'yes' }, field: 'stream' },
        { body: { ...request, tools: {} }, field: 'tools' },
      ],
    },
  },
  dialects: {
    chat_completions: {
      replies: [
        {
          id: 'chatcmpl-1',
          object: 'chat.completion',
          created: 1,
          model: 'upstream',
          choices: [
            {
              index: 0,
              message: { role: 'assistant', content: 'To the sea.', tool_calls: [call] },
              finish_reason: 'tool_calls',
            },
          ],
          usage,
        },
      ],
      malformed: [{ choices: {}, usage }],
      stream: [
        chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
        chunk([{ index: 0, delta: { content: 'To the ' }, finish_reason: null }]),
        chunk([{ index: 0, delta: { content: 'sea.' }, finish_reason: null }]),
        chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
        chunk([], { usage }),
        streamEvent('[DONE]'),
      ],
    },
  },
})
