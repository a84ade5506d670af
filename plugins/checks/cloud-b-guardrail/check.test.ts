import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { inspect } from 'node:util'
import { judge, secret } from '../_shared/testing.ts'
import * as replies from './__fixtures__/replies.ts'
import { createGuardrail } from './check.ts'
import { type Config, phases } from './config.ts'
import { startGuardrailService } from './testing.ts'

const service = startGuardrailService()
afterAll(() => service.stop())
beforeEach(() => {
  service.keys = { AKIDEXAMPLE: { secretAccessKey: 'open sesame', sessionToken: 'session' } }
  service.answer = () => Response.json(replies.passed)
})

const auth: NonNullable<Config['auth']> = {
  kind: 'static',
  access_key_id: secret('literal.AKIDEXAMPLE'),
  secret_access_key: secret('literal.open sesame'),
  session_token: secret('literal.session'),
}

const surroundings = { now: () => new Date(), warn() {} }
const bare = {
  region: 'eu-west-1',
  guardrail_identifier: 'gr1abc23def4',
  guardrail_version: '7',
  max_retries: 0,
}
const here = { ...bare, endpoint_url: service.url }

function check(config: Partial<Config> = {}) {
  return createGuardrail({ ...here, auth, ...config }, surroundings)
}

describe('the request', () => {
  test('is one signed text', async () => {
    expect(await judge(check(), 'größer 🦊')).toEqual({ action: 'allow' })
    const call = service.calls.at(-1)
    expect([call?.method, call?.path]).toEqual(['POST', '/guardrail/gr1abc23def4/version/7/apply'])
    expect(call?.headers.get('content-type')).toBe('application/json')
    expect(call?.body).toEqual({
      source: 'INPUT',
      content: [{ text: { text: 'größer 🦊' } }],
      outputScope: 'INTERVENTIONS',
    })
  })

  test.each([
    ['prompt', 'INPUT'],
    ['mcp_call', 'INPUT'],
    ['model_response', 'OUTPUT'],
    ['generated_tool_call', 'OUTPUT'],
    ['mcp_result', 'OUTPUT'],
  ] as const)('at %s its source is %s', async (phase, source) => {
    expect(phases).toContain(phase)
    expect(await judge(check(), 'text', { phase })).toEqual({ action: 'allow' })
    expect(service.calls.at(-1)?.body.source).toBe(source)
  })

  test('an ARN is one segment of a path whose signature holds', async () => {
    const arn = 'arn:aws-us-gov:bedrock:eu-west-1:123456789012:guardrail/gr1abc23def4'
    const config = { guardrail_identifier: arn, guardrail_version: 'DRAFT' }
    expect(await judge(check(config), 'text')).toEqual({ action: 'allow' })
    expect(service.calls.at(-1)?.path).toBe(
      '/guardrail/arn%3Aaws-us-gov%3Abedrock%3Aeu-west-1%3A123456789012%3Aguardrail%2Fgr1abc23def4/version/DRAFT/apply',
    )
  })

  test('without an override it goes to the region', async () => {
    const sent: string[] = []
    const real = globalThis.fetch
    globalThis.fetch = Object.assign(
      async (url: unknown) => {
        sent.push(String(url))
        return Response.json(replies.passed)
      },
      { preconnect: real.preconnect },
    )
    try {
      const far = createGuardrail({ ...bare, auth, region: 'us-west-2' }, surroundings)
      expect(await judge(far, 'text')).toEqual({ action: 'allow' })
    } finally {
      globalThis.fetch = real
    }
    expect(sent).toEqual([
      'https://bedrock-runtime.us-west-2.amazonaws.com/guardrail/gr1abc23def4/version/7/apply',
    ])
  })

  test('a blank text is not worth a call', async () => {
    const before = service.calls.length
    expect(await judge(check(), ' \n')).toEqual({ action: 'allow' })
    expect(service.calls).toHaveLength(before)
  })
})

const denied = { action: 'deny', reasonCode: 'managed.denied' }
const masked = { action: 'transformed', text: 'Write to {EMAIL}' }
const text = ['Write to {EMAIL}']
const canned = ['Sorry, the model cannot answer this question.']

describe('the verdict', () => {
  test.each<[string, unknown, unknown]>([
    ['no intervention', replies.passed, { action: 'allow' }],
    ['a topic', replies.intervened(replies.topic, canned), denied],
    ['content', replies.intervened(replies.violence, canned), denied],
    ['words', replies.intervened(replies.words, canned), denied],
    ['grounding', replies.intervened(replies.ungrounded, canned), denied],
    ['personal data blocked', replies.intervened(replies.email('BLOCKED'), canned), denied],
    ['a regex blocked', replies.intervened(replies.ticket('BLOCKED'), canned), denied],
    ['personal data masked', replies.intervened(replies.email('ANONYMIZED'), text), masked],
    ['a regex masked', replies.intervened(replies.ticket('ANONYMIZED'), text), masked],
    [
      'masked and blocked',
      replies.intervened({ ...replies.email('ANONYMIZED'), ...replies.violence }, canned),
      denied,
    ],
    [
      'masked and an action that is neither',
      replies.intervened(
        { ...replies.email('ANONYMIZED'), wordPolicy: { customWords: [{ action: 'NONE' }] } },
        text,
      ),
      denied,
    ],
    ['an intervention without an item', replies.intervened({}, canned), denied],
    ['… without assessments', { action: 'GUARDRAIL_INTERVENED', outputs: [] }, denied],
    [
      'masked into two texts',
      replies.intervened(replies.email('ANONYMIZED'), [...text, ...text]),
      'managed.invalid_transformation',
    ],
    [
      'masked into no text',
      replies.intervened(replies.email('ANONYMIZED'), []),
      'managed.invalid_transformation',
    ],
    [
      'masked into something else',
      { ...replies.intervened(replies.email('ANONYMIZED'), text), outputs: [{ image: {} }] },
      'managed.malformed_response',
    ],
    [
      'masked without outputs',
      { ...replies.intervened(replies.email('ANONYMIZED'), text), outputs: null },
      'managed.malformed_response',
    ],
    ['no action', { outputs: [], assessments: [] }, 'managed.malformed_response'],
    ['an unknown action', { ...replies.passed, action: 'SLEPT' }, 'managed.malformed_response'],
    ['nothing', {}, 'managed.malformed_response'],
  ])('%s', async (_, reply, verdict) => {
    service.answer = () => Response.json(reply)
    expect(await judge(check(), 'Write to match-canary@example.com')).toEqual(verdict)
  })

  test('a failure quotes no match', async () => {
    service.answer = () =>
      Response.json({ ...replies.intervened(replies.email('ANONYMIZED'), []), outputs: [{}, {}] })
    const signal = AbortSignal.timeout(5_000)
    const asked = check().evaluate({ phase: 'prompt', text: 'match-canary', signal })
    const error = await asked.catch((reason: unknown) => reason)
    expect(inspect(error, { depth: 9 })).not.toContain('match-canary')
  })
})

describe('throttling', () => {
  const throttled = () =>
    Response.json(
      { message: 'Too many requests' },
      { status: 429, headers: { 'x-amzn-errortype': 'ThrottlingException' } },
    )

  test('is waited out, each attempt signed', async () => {
    let attempts = 0
    service.answer = () => (++attempts < 3 ? throttled() : Response.json(replies.passed))
    expect(await judge(check({ max_retries: 2 }), 'text')).toEqual({ action: 'allow' })
    expect(attempts).toBe(3)
  })

  test('that goes on is a failure', async () => {
    service.answer = throttled
    expect(await judge(check({ max_retries: 1 }), 'text')).toBe('managed.rate_limited')
  })

  test('does not outlast its time', async () => {
    service.answer = throttled
    const verdict = await judge(check({ max_retries: 10 }), 'text', { timeoutMs: 100 })
    expect(verdict).toBe('managed.timeout')
  })
})
