import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { judge, secret, startStandIn } from '../_shared/testing.ts'
import * as replies from './__fixtures__/replies.ts'
import { createSanitizer } from './check.ts'
import { type Config, phases } from './config.ts'

/** The valid tokens, and the tokens of the calls. */
let good = 'canary-4711'
const callers: (string | null)[] = []
const service = startStandIn(({ headers }) => {
  callers.push(headers.get('authorization'))
  if (headers.get('authorization') === `Bearer ${good}`) return undefined
  const error = {
    code: 401,
    message: 'Request had invalid credentials.',
    status: 'UNAUTHENTICATED',
  }
  return Response.json({ error }, { status: 401 })
})
const folder = mkdtempSync(join(tmpdir(), 'sanitizer-'))
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  good = 'canary-4711'
  service.answer = () => Response.json(replies.reply({}))
})

const template = (name: string) => `projects/demo/locations/europe-west4/templates/${name}`

function check(config: Partial<Config> = {}) {
  return createSanitizer({
    project: 'demo',
    location: 'europe-west4',
    prompt_template: template('prompts'),
    response_template: template('responses'),
    auth: { kind: 'bearer_token', token: secret('literal.canary-4711') },
    max_retries: 0,
    endpoint_url: service.url,
    ...config,
  })
}

describe('the request', () => {
  test.each([
    ['prompt', 'prompts:sanitizeUserPrompt', 'userPromptData'],
    ['mcp_call', 'prompts:sanitizeUserPrompt', 'userPromptData'],
    ['model_response', 'responses:sanitizeModelResponse', 'modelResponseData'],
    ['mcp_result', 'responses:sanitizeModelResponse', 'modelResponseData'],
  ] as const)('%s', async (phase, path, field) => {
    expect(phases).toContain(phase)
    expect(await judge(check(), 'größer 🦊', { phase })).toEqual({ action: 'allow' })
    const call = service.calls.at(-1)
    expect([call?.method, call?.path]).toEqual(['POST', `/v1/${template(path)}`])
    expect(call?.headers.get('content-type')).toBe('application/json')
    expect(call?.body).toEqual({ [field]: { text: 'größer 🦊' } })
  })

  test('without an override it goes to the location', async () => {
    const sent: string[] = []
    const real = globalThis.fetch
    globalThis.fetch = Object.assign(
      async (url: unknown) => {
        sent.push(String(url))
        return Response.json(replies.reply({}))
      },
      { preconnect: real.preconnect },
    )
    try {
      const bare = createSanitizer({
        project: 'demo',
        location: 'europe-west4',
        prompt_template: template('prompts'),
        response_template: template('responses'),
        auth: { kind: 'bearer_token', token: secret('literal.x') },
        max_retries: 0,
      })
      expect(await judge(bare, 'text')).toEqual({ action: 'allow' })
    } finally {
      globalThis.fetch = real
    }
    expect(sent).toEqual([
      `https://modelarmor.europe-west4.rep.googleapis.com/v1/${template('prompts:sanitizeUserPrompt')}`,
    ])
  })

  test('a blank text is not worth a call', async () => {
    const before = service.calls.length
    expect(await judge(check(), '\t')).toEqual({ action: 'allow' })
    expect(service.calls).toHaveLength(before)
  })
})

const { reply } = replies
const denied = { action: 'deny', reasonCode: 'managed.denied' }
const text = { text: 'Write to [EMAIL_ADDRESS]' }
const transformed = { action: 'transformed', ...text }
const partial = { invocationResult: 'PARTIAL' }
const failure = { invocationResult: 'FAILURE' }
const noMatch = { filterMatchState: 'NO_MATCH_FOUND' }

describe('the verdict', () => {
  test.each<[string, unknown, unknown]>([
    ['nothing found', reply({}), { action: 'allow' }],
    ['nothing masked', reply(replies.unmasked(text), noMatch), { action: 'allow' }],
    ['responsible AI', reply(replies.rai), denied],
    ['a kind of it alone', reply(replies.raiKind), denied],
    ['a jailbreak', reply(replies.jailbreak), denied],
    ['malicious addresses', reply(replies.uris), denied],
    ['abuse', reply(replies.csam), denied],
    ['personal data inspected', reply(replies.inspected), denied],
    ['personal data masked', reply(replies.masked(text)), transformed],
    ['masked and a jailbreak', reply({ ...replies.masked(text), ...replies.jailbreak }), denied],
    ['found by a filter, though not in total', reply(replies.rai, noMatch), denied],
    ['found in total, though by no filter', reply({}, { filterMatchState: 'MATCH_FOUND' }), denied],

    ['partly run', reply({}, partial), 'managed.unavailable'],
    ['not run', reply({}, failure), 'managed.unavailable'],
    ['skipped', reply(replies.skipped, noMatch), 'managed.unavailable'],
    ['masked, partly run', reply(replies.masked(text), partial), 'managed.unavailable'],
    [
      'masked, one filter skipped',
      reply({ ...replies.masked(text), ...replies.skipped }),
      'managed.unavailable',
    ],
    ['a jailbreak, partly run', reply(replies.jailbreak, partial), denied],
    ['a jailbreak, not run', reply(replies.jailbreak, failure), denied],
    ['abuse, one filter skipped', reply({ ...replies.csam, ...replies.skipped }), denied],

    [
      'an unknown total',
      reply({}, { filterMatchState: 'FILTER_MATCH_STATE_UNSPECIFIED' }),
      'managed.malformed_response',
    ],
    [
      'an unknown invocation',
      reply({}, { invocationResult: 'INVOCATION_RESULT_UNSPECIFIED' }),
      'managed.malformed_response',
    ],
    ['an unknown state', reply(replies.unheardOf, noMatch), 'managed.malformed_response'],
    [
      'an unknown state and a mask',
      reply({ ...replies.masked(text), ...replies.unheardOf }),
      'managed.malformed_response',
    ],
    [
      'an unknown state and a jailbreak',
      reply({ ...replies.jailbreak, ...replies.unheardOf }),
      denied,
    ],
    ['masked without data', reply(replies.masked(undefined)), 'managed.malformed_response'],
    ['masked without text', reply(replies.masked({})), 'managed.malformed_response'],
    ['garbage in a filter', reply({ rai: 'x' }, noMatch), 'managed.malformed_response'],
    ['garbage and a jailbreak', reply({ rai: 'x', ...replies.jailbreak }), denied],
    [
      'garbage instead of filters',
      { sanitizationResult: { ...reply({}).sanitizationResult, filterResults: 'x' } },
      'managed.malformed_response',
    ],
    ['no result', {}, 'managed.malformed_response'],
    ['an empty result', { sanitizationResult: {} }, 'managed.malformed_response'],
  ])('%s', async (_, answer, verdict) => {
    service.answer = () => Response.json(answer)
    expect(await judge(check(), 'Write to match-canary@example.com')).toEqual(verdict)
  })

  test('filters may come as a list', async () => {
    const listed = (filters: Record<string, unknown>) => {
      const { sanitizationResult } = reply(filters)
      const filterResults = Object.values(sanitizationResult.filterResults)
      return Response.json({ sanitizationResult: { ...sanitizationResult, filterResults } })
    }
    service.answer = () => listed(replies.jailbreak)
    expect(await judge(check(), 'text')).toEqual(denied)
    service.answer = () => listed(replies.masked(text))
    expect(await judge(check(), 'text')).toEqual(transformed)
    service.answer = () => listed({})
    expect(await judge(check(), 'text')).toEqual({ action: 'allow' })
  })

  test('a template without filters allows', async () => {
    const { filterResults: _, ...rest } = reply({}).sanitizationResult
    service.answer = () => Response.json({ sanitizationResult: rest })
    expect(await judge(check(), 'text')).toEqual({ action: 'allow' })
  })
})

describe('quota', () => {
  const exhausted = () => {
    const error = { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' }
    return Response.json({ error }, { status: 429 })
  }

  test('is waited out', async () => {
    let attempts = 0
    service.answer = () => (++attempts < 3 ? exhausted() : Response.json(reply({})))
    expect(await judge(check({ max_retries: 2 }), 'text')).toEqual({ action: 'allow' })
  })

  test('that stays used up is a failure', async () => {
    service.answer = exhausted
    expect(await judge(check({ max_retries: 1 }), 'text')).toBe('managed.rate_limited')
  })
})

describe('the token', () => {
  const file = join(folder, 'token')

  test('in a file is read again for each evaluation', async () => {
    good = 'first'
    writeFileSync(file, 'first\n')
    const rotating = check({ auth: { kind: 'bearer_token', token: secret(`file.${file}`) } })
    const before = callers.length
    expect(await judge(rotating, 'text')).toEqual({ action: 'allow' })
    good = 'second'
    writeFileSync(file, 'second\n')
    expect(await judge(rotating, 'text')).toEqual({ action: 'allow' })
    expect(callers.slice(before)).toEqual(['Bearer first', 'Bearer second'])
  })

  test('that cannot be read is a failure that shows nothing but its place', async () => {
    writeFileSync(file, 'canary-0815')
    const config = { kind: 'bearer_token', token: secret(`file.${file}`) } as const
    const rotating = check({ auth: config })
    for (const damage of [() => writeFileSync(file, '\n'), () => rmSync(file)]) {
      damage()
      const signal = AbortSignal.timeout(5_000)
      const asked = rotating.evaluate({ phase: 'prompt', text: 'text', signal })
      const error = await asked.catch((reason: unknown) => reason)
      expect(error).toMatchObject({ reason: 'managed.access_denied' })
      expect(String(error)).toContain(file)
      expect(inspect(error, { depth: 9 })).not.toContain('canary-0815')
    }
  })

  test('in the environment stays as it was', async () => {
    good = 'before'
    process.env.CHECK_TEST_TOKEN = 'before'
    const auth = { kind: 'bearer_token', token: secret('env.CHECK_TEST_TOKEN') } as const
    const fixed = check({ auth })
    process.env.CHECK_TEST_TOKEN = 'after'
    expect(await judge(fixed, 'text')).toEqual({ action: 'allow' })
    delete process.env.CHECK_TEST_TOKEN
    expect(await judge(fixed, 'text')).toEqual({ action: 'allow' })
  })

  test('that is wrong is refused', async () => {
    good = 'another'
    expect(await judge(check(), 'text')).toBe('managed.access_denied')
  })
})
