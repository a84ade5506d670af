import { testSurface } from 'model-gateway/testing'
import plugin from './index.ts'

testSurface({
  plugin,
  surfaces: {
    embeddings: {
      takes: [{ model: 'fast', input: ['river', 'sea'] }],
      refuses: [
        { body: { model: 'fast' }, field: 'input' },
        { body: { model: 'fast', input: 'river', stream: true }, field: 'stream' },
      ],
    },
  },
  dialects: {
    embeddings: {
      replies: [
        {
          object: 'list',
          model: 'upstream',
          data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }],
          usage: { prompt_tokens: 4, total_tokens: 4 },
        },
      ],
      malformed: [{ data: {} }],
    },
  },
})
