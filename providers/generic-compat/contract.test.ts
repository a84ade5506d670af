import { Secret } from 'model-gateway/plugin'
import { testProvider } from 'model-gateway/testing'
import plugin from './index.ts'

testProvider({
  plugin,
  type: 'generic_compat',
  config: (upstreamUrl) => ({
    base_url: upstreamUrl,
    auth: { mode: 'bearer', token: new Secret('canary-4711') },
  }),
  secrets: ['canary-4711'],
})
