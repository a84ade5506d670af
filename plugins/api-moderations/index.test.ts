import { testSurface } from 'model-gateway/testing'
import plugin from './index.ts'

const picture = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
const result = { flagged: false, categories: { hate: false }, category_scores: { hate: 0.1 } }

testSurface({
  plugin,
  surfaces: {
    moderations: {
      takes: [
        { model: 'omni-moderation-latest', input: [{ type: 'text', text: 'river' }, picture] },
        { model: 'omni-moderation-latest', input: ['river', 'sea'] },
        { model: 'm', input: 'river' },
      ],
      refuses: [
        { body: { input: 'river' }, field: 'model' },
        { body: { model: 'm' }, field: 'input' },
        { body: { model: 'm', input: [] }, field: 'input' },
        { body: { model: 'm', input: ['river', 7] }, field: 'input.1' },
        { body: { model: 'm', input: 'river', stream: true }, field: 'stream' },
      ],
    },
  },
  dialects: {
    moderations: {
      replies: [
        // https://platform.openai.com/docs/api-reference/moderations/object
        { id: 'modr-1', model: 'omni-moderation-latest', results: [result] },
        // https://docs.mistral.ai/api/endpoint/classifiers
        {
          id: 'mod-1',
          model: 'mistral-moderation-latest',
          results: [{ categories: {}, category_scores: {} }],
          usage: { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 },
        },
      ],
      malformed: [{ results: {} }],
    },
  },
})
