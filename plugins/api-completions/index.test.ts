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

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const head = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'upstream' }
const chunk = (choices: readonly object[], more: object = {}) =>
  streamEvent(JSON.stringify({ ...head, choices, ...more }))
const piece = (text: string, finish_reason: string | null = null, more: object = {}) => ({
  index: 0,
  text,
  logprobs: null,
  finish_reason,
  ...more,
})
const tokens = (...names: string[]) => ({
  logprobs: { tokens: names, token_logprobs: names.map(() => -0.5) },
})

testSurface({
  plugin,
  beside: [chat],
  surfaces: {
    completions: {
      takes: [
        { model: 'fast', prompt: 'Rivers run', stream: true, suffix: '.', logprobs: 2, n: 2 },
        { model: 'fast', prompt: ['Rivers', 'Seas'] },
        { model: 'fast', prompt: [[464, 7850], [1]] },
        { model: 'fast', prompt: [464, 7850] },
        { model: 'fast' },
      ],
      refuses: [
        { body: { model: 'fast', prompt: { text: 'Rivers' } }, field: 'prompt' },
        { body: { model: 'fast', prompt: ['Rivers', 7] }, field: 'prompt' },
        { body: { model: 'fast', prompt: 'Rivers', stream: 'yes' }, field: 'stream' },
        { body: { prompt: 'Rivers' }, field: 'model' },
      ],
    },
  },
  dialects: {
    completions: {
      replies: [{ ...head, choices: [piece('to the sea.', 'stop')], usage }],
      malformed: [{ choices: {} }],
      stream: [
        chunk([piece('to the ', null, tokens('to', ' the'))]),
        chunk([piece('sea.', null, tokens(' sea.')), piece('sky.', 'stop', { index: 1 })]),
        chunk([piece('', 'stop')]),
        chunk([], { usage }),
        streamEvent('[DONE]'),
      ],
    },
  },
  conversions: [
    {
      from: 'completions',
      to: 'chat_completions',
      requests: [
        {
          from: {
            model: 'fast',
            prompt: ['Rivers run'],
            max_tokens: 9,
            stop: '.',
            echo: false,
            best_of: 1,
            suffix: '',
          },
          to: {
            model: 'fast',
            messages: [{ role: 'user', content: 'Rivers run' }],
            max_tokens: 9,
            stop: '.',
          },
        },
      ],
      replies: [
        {
          to: {
            id: 'chatcmpl-1',
            created: 7,
            choices: [{ index: 0, message: { content: 'to the sea.' }, finish_reason: 'stop' }],
            usage,
          },
          from: {
            id: 'cmpl-1',
            object: 'text_completion',
            created: 7,
            choices: [piece('to the sea.', 'stop')],
            usage,
          },
        },
      ],
      stream: {
        open: createChatStream,
        events: [
          streamEvent(
            JSON.stringify({ id: 'c1', choices: [{ index: 0, delta: { role: 'assistant' } }] }),
          ),
          streamEvent(
            JSON.stringify({
              id: 'c1',
              choices: [{ index: 0, delta: { content: 'to the sea.' } }],
            }),
          ),
          streamEvent(
            JSON.stringify({
              id: 'c1',
              choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
              usage,
            }),
          ),
          streamEvent('[DONE]'),
        ],
      },
    },
  ],
})
