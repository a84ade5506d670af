import { type Plugin, Type } from 'model-gateway/plugin'
import { testSurface } from 'model-gateway/testing'
import { createChatStream, streamEvent } from 'model-gateway/wire'
import plugin from './index.ts'

/** Replaces the plugin that executes chat completions. */
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
const counted = { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 1 }
const event = (type: string, members: object = {}) =>
  streamEvent(JSON.stringify({ type, ...members }), type)
const reply = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'upstream',
  content: [
    { type: 'thinking', thinking: 'hm', signature: 's' },
    {
      type: 'text',
      text: 'To the sea.',
      citations: [{ type: 'char_location', cited_text: 'sea' }],
    },
    { type: 'tool_use', id: 't1', name: 'look_up', input: { river: 'Elbe' } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: counted,
}

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
    'messages.count_tokens': {
      takes: [
        {
          model: 'fast',
          messages: [...request.messages, { role: 'assistant', content: [{ type: 'later' }] }],
          system: [{ type: 'text', text: 'Be short.' }],
          tools: [{ name: 'look_up', input_schema: { type: 'object' } }],
          thinking: { type: 'enabled', budget_tokens: 1024 },
        },
        // Not needed for a count, or validated by the upstream.
        { ...request, max_tokens: 'all', stream: 'never', thread: 't' },
      ],
      refuses: [
        { body: { model: 'fast' }, field: 'messages' },
        { body: { ...request, messages: [] }, field: 'messages' },
        {
          body: { ...request, messages: [{ role: 'tool', content: 'x' }] },
          field: 'messages.0.role',
        },
        { body: { ...request, messages: [{ role: 'user' }] }, field: 'messages.0.content' },
        { body: { ...request, messages: [{ role: 'user', content: [7] }] }, field: 'content.0' },
        { body: { ...request, system: 7 }, field: 'system' },
        { body: { ...request, tools: {} }, field: 'tools' },
        { body: { ...request, tools: [null] }, field: 'tools.0' },
      ],
    },
  },
  dialects: {
    messages: {
      replies: [reply],
      malformed: [{ content: {}, usage: counted }],
      stream: [
        event('message_start', {
          message: {
            ...reply,
            content: [],
            stop_reason: null,
            usage: { ...counted, output_tokens: 1 },
          },
        }),
        event('ping'),
        event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
        event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'To the ' } }),
        event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'sea.' } }),
        event('content_block_stop', { index: 0 }),
        event('message_delta', {
          delta: { stop_reason: 'end_turn', stop_sequence: null },
          usage: { output_tokens: 2 },
        }),
        event('message_stop'),
      ],
    },
    'messages.count_tokens': {
      replies: [{ input_tokens: 14 }, { input_tokens: 0, model: 'theirs' }],
      malformed: [{ input_tokens: '14' }, { input_tokens: -1 }, { input_tokens: 1.5 }],
      metered: false,
      answers: [request],
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
