import { describe } from 'bun:test'
import { Secret } from 'model-gateway/plugin'
import { testProvider } from 'model-gateway/testing'
import plugin from './index.ts'

describe.each([undefined, '2024-10-21'])('api_version %p', (api_version) => {
  testProvider({
    plugin,
    type: 'azure_openai',
    config: (upstreamUrl) => ({
      // The stand-in answers by the end of a path.
      endpoint: new URL(upstreamUrl).origin,
      api_key: new Secret('canary-4711'),
      ...(api_version && { api_version }),
    }),
    secrets: ['canary-4711'],
  })
})
