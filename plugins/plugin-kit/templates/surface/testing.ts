import { testPlugin, testSurface } from 'model-gateway/testing'
import plugin from './src/index.ts'

const request = { model: 'fast', prompt: 'Where do rivers run?' }
const message = { role: 'assistant', content: 'To the sea.' }

testPlugin({ plugin })

testSurface({
  plugin,
  surfaces: {
    sample_name: {
      takes: [request],
      refuses: [
        { body: { model: 'fast' }, field: 'prompt' },
        { body: { ...request, stream: true }, field: 'stream' },
      ],
    },
  },
  conversions: [
    {
      from: 'sample_name',
      to: 'chat_completions',
      requests: [
        {
          from: request,
          to: { model: 'fast', messages: [{ role: 'user', content: request.prompt }] },
        },
      ],
      replies: [
        {
          to: { choices: [{ index: 0, message, finish_reason: 'stop' }] },
          from: { text: 'To the sea.', tokens: 5 },
        },
      ],
    },
  ],
})
