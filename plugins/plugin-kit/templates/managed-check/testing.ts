import { json, testManagedCheck, testPlugin } from 'model-gateway/testing'
import plugin from './src/index.ts'

testPlugin({ plugin })

testManagedCheck({
  plugin,
  kind: 'sample_name',
  config: (serviceUrl) => ({ url: `${serviceUrl}/judge`, api_key: 'literal.canary-4711' }),
  answers: {
    allow: json({ verdict: 'allow' }),
    deny: json({ verdict: 'block' }),
    transformed: { reply: json({ verdict: 'replace', text: 'masked' }), text: 'masked' },
  },
  malformed: [json({ verdict: 'maybe' }), json({ verdict: 'replace' })],
})
