import { describe } from 'bun:test'
import { Secret } from 'model-gateway/plugin'
import { testProvider } from 'model-gateway/testing'
import plugin from './index.ts'

describe.each(['chat', 'responses'])('chat completions by the API %s', (upstream_api) => {
  testProvider({
    plugin,
    type: 'generic_compat',
    config: (upstreamUrl) => ({
      base_url: upstreamUrl,
      auth: { mode: 'bearer', token: new Secret('canary-4711') },
    }),
    route: { compatibility: { generic_compat: { upstream_api } } },
    secrets: ['canary-4711'],
  })
})
