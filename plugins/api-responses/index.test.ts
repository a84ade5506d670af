import type { JsonObject } from 'model-gateway/plugin'
import { testSurface } from 'model-gateway/testing'
import { streamEvent } from 'model-gateway/wire'
import plugin from './index.ts'

const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 }
const part = { type: 'output_text', text: 'To the sea.', annotations: [] }
const item = { id: 'm1', type: 'message', role: 'assistant', status: 'completed', content: [part] }
const reply = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'upstream',
  output: [item],
  usage,
}
let sequence = 0
const event = (type: string, more: JsonObject) =>
  streamEvent(JSON.stringify({ type, sequence_number: sequence++, ...more }), type)
const begun = { ...reply, status: 'in_progress', output: [], usage: null }
const at = { item_id: 'm1', output_index: 0, content_index: 0 }

testSurface({
  plugin,
  surfaces: {
    responses: {
      takes: [{ model: 'fast', input: 'Where do rivers run?', stream: true, tools: [] }],
      refuses: [
        { body: { model: 'fast' }, field: 'input' },
        { body: { model: 'fast', input: 'x', tools: 'all' }, field: 'tools' },
      ],
    },
  },
  dialects: {
    responses: {
      replies: [reply],
      malformed: [{ choices: [], usage }],
      stream: [
        event('response.created', { response: begun }),
        event('response.in_progress', { response: begun }),
        event('response.output_item.added', {
          output_index: 0,
          item: { ...item, status: 'in_progress', content: [] },
        }),
        event('response.content_part.added', { ...at, part: { ...part, text: '' } }),
        event('response.output_text.delta', { ...at, delta: 'To the ' }),
        event('response.output_text.delta', { ...at, delta: 'sea.' }),
        event('response.output_text.done', { ...at, text: 'To the sea.' }),
        event('response.content_part.done', { ...at, part }),
        event('response.output_item.done', { output_index: 0, item }),
        event('response.completed', { response: reply }),
      ],
    },
  },
})
