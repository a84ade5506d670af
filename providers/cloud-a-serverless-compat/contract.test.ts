import { Secret } from 'model-gateway/plugin'
import { testProvider } from 'model-gateway/testing'
import plugin from './index.ts'

testProvider({
  plugin,
  type: 'cloud_a_serverless_compat',
  config: (upstreamUrl) => ({
    base_url: upstreamUrl,
    audience: 'https://service.example',
    auth: { mode: 'bearer', token: new Secret('canary-4711') },
  }),
  secrets: ['canary-4711'],
})
