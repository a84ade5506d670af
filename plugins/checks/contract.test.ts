import { json, testManagedCheck } from 'model-gateway/testing'
import * as sanitizerReplies from './cloud-a-sanitizer/__fixtures__/replies.ts'
import cloudASanitizer from './cloud-a-sanitizer/index.ts'
import * as guardrailReplies from './cloud-b-guardrail/__fixtures__/replies.ts'
import cloudBGuardrail from './cloud-b-guardrail/index.ts'

const masked = 'Write to [EMAIL_ADDRESS]'
const folder = 'projects/demo/locations/europe-west4/templates'

testManagedCheck({
  plugin: cloudASanitizer,
  kind: 'cloud_a_sanitizer',
  config: (serviceUrl) => ({
    project: 'demo',
    location: 'europe-west4',
    prompt_template: `${folder}/prompts`,
    response_template: `${folder}/responses`,
    auth: { kind: 'bearer_token', token: 'literal.canary-4711' },
    max_retries: 0,
    endpoint_url: serviceUrl,
  }),
  answers: {
    allow: json(sanitizerReplies.reply({})),
    deny: json(sanitizerReplies.reply(sanitizerReplies.jailbreak)),
    transformed: {
      reply: json(sanitizerReplies.reply(sanitizerReplies.masked({ text: masked }))),
      text: masked,
    },
  },
})

testManagedCheck({
  plugin: cloudBGuardrail,
  kind: 'cloud_b_guardrail',
  config: (serviceUrl) => ({
    region: 'eu-west-1',
    guardrail_identifier: 'gr1abc23def4',
    guardrail_version: '7',
    auth: {
      kind: 'static',
      access_key_id: 'literal.AKIDEXAMPLE',
      secret_access_key: 'literal.canary-secret-4711',
      session_token: 'literal.canary-session-4711',
    },
    max_retries: 0,
    endpoint_url: serviceUrl,
  }),
  answers: {
    allow: json(guardrailReplies.passed),
    deny: json(guardrailReplies.intervened(guardrailReplies.topic, [])),
    transformed: {
      reply: json(guardrailReplies.intervened(guardrailReplies.email('ANONYMIZED'), [masked])),
      text: masked,
    },
  },
})
