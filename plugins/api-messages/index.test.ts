import { type Plugin, Type } from 'model-gateway/plugin'
import { testSurface } from 'model-gateway/testing'
import { createChatStream, streamEvent } from 'model-gateway/wire'
import plugin from './index.ts'

/** Whoever executes chat completions. */
const chat: Plugin = {
  manifest: {
    id: 'plugin.api-chat',
    version: '1.0.0',
    contract: 1,
    summary: 'Stands in for the chat API.',
    config: Type.Object({}),
    needs: [],
  },
  setup() {},
}

const request = {
  model: 'fast',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Where do rivers run?' }],
}
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const chunk = (choices: readonly object[], more: object = {}) =>
  streamEvent(JSON.stringify({ id: 'c1', model: 'upstream', choices, ...more }))
const message = { role: 'assistant', content: 'To the sea.' }

testSurface({
  plugin,
  beside: [chat],
  surfaces: {
    messages: {
      takes: [
        {
          ...request,
          stream: true,
          system: [{ type: 'text', text: 'Be short.' }],
          tools: [{ name: 'look_up', input_schema: { type: 'object' } }],
          thinking: { type: 'enabled', budget_tokens: 1024 },
        },
        request,
      ],
      refuses: [
        { body: { model: 'fast', max_tokens: 1 }, field: 'messages' },
        { body: { ...request, max_tokens: 'all' }, field: 'max_tokens' },
        { body: { ...request, tools: {} }, field: 'tools' },
      ],
    },
  },
  conversions: [
    {
      from: 'messages',
      to: 'chat_completions',
      requests: [
        {
          from: request,
          to: { model: 'fast', max_tokens: 100, messages: [request.messages[0] as never] },
        },
      ],
      replies: [
        {
          to: {
            id: 'c1',
            model: 'up',
            choices: [{ index: 0, message, finish_reason: 'stop' }],
            usage,
          },
          from: {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'text', text: 'To the sea.' }],
            stop_reason: 'end_turn',
          },
        },
      ],
      stream: {
        open: createChatStream,
        events: [
          chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
          chunk([{ index: 0, delta: { content: 'To the ' }, finish_reason: null }]),
          chunk([{ index: 0, delta: { content: 'sea.' }, finish_reason: null }]),
          chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
          chunk([], { usage }),
          streamEvent('[DONE]'),
        ],
      },
    },
  ],
})
