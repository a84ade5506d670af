import { describe, expect, test } from 'bun:test'
import { usageFromGoogle } from 'model-gateway/google'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import { chatFromGoogle } from './google-content-reply.ts'
import { createToolNames, GOOGLE_NAMES } from './tool-names.ts'

const names = createToolNames(GOOGLE_NAMES)

const call = { surface: 'chat_completions', body: { model: 'asked' } }
const fixture = (name: string): Promise<JsonObject> =>
  Bun.file(`${import.meta.dir}/__fixtures__/google-${name}.json`).json()
const choicesOf = (reply: JsonObject) => chatFromGoogle(reply, call, names).choices as JsonObject[]
const messageOf = (choice: JsonObject | undefined) => choice?.message as JsonObject
const text = { text: 'a' }
const functionCall = { functionCall: { name: 'f', args: { x: 1 } } }

test('a text with its thoughts', async () => {
  const before = Math.floor(Date.now() / 1000)
  const { created, ...reply } = chatFromGoogle(await fixture('text'), call, names)
  expect(created).toBeGreaterThanOrEqual(before)
  expect(reply).toEqual({
    id: 'id-text-1',
    object: 'chat.completion',
    model: 'asked',
    provider_model: 'gemini-2.5-flash-001',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content:
            'Rivers run to the sea — 海 🌊, past "quotes", \\slashes\\ and {braces]} größer als gedacht.',
          provider_metadata: {
            cloud_a_ml: {
              reasoning: {
                source: 'google_content',
                blocks: [
                  {
                    type: 'thought',
                    text: '**Weighing the question**\n\nRivers follow gravity, so "downhill" is the {short} answer.',
                  },
                ],
              },
            },
          },
        },
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 31,
      completion_tokens: 112,
      total_tokens: 143,
      prompt_tokens_details: { cached_tokens: 16 },
      completion_tokens_details: { reasoning_tokens: 88 },
      service_tier: 'default',
      provider_usage: (await fixture('text')).usageMetadata,
    },
  })
})

test('function calls keep their ids and signatures; without text the content is null', async () => {
  const [choice] = choicesOf(await fixture('tools'))
  expect(choice).toMatchObject({
    finish_reason: 'tool_calls',
    message: {
      content: null,
      tool_calls: [
        {
          id: 'fc-7Yw',
          type: 'function',
          function: { name: 'weather', arguments: '{"city":"Oslo","unit":"°C"}' },
          thought_signature: 'CpQBAbeVLwXy+/==',
          extra_content: { google: { thought_signature: 'CpQBAbeVLwXy+/==' } },
        },
        { id: 'fc-8Zx', type: 'function', function: { name: 'clock', arguments: '{}' } },
      ],
    },
  })
  const [unnamed] = choicesOf({ candidates: [{ content: { parts: [functionCall] } }] })
  const [made] = messageOf(unnamed).tool_calls as JsonObject[]
  expect(made?.id).toMatch(/^call_[0-9a-f-]{36}$/)
})

describe('how candidates end', () => {
  test.each([
    ['STOP', [text], 'stop', 0],
    ['MAX_TOKENS', [text], 'length', 0],
    ...[
      'SAFETY',
      'BLOCKLIST',
      'PROHIBITED_CONTENT',
      'RECITATION',
      'SPII',
      'IMAGE_SAFETY',
      'MODEL_ARMOR',
    ].map((reason) => [reason, [text], 'content_filter', 0] as const),
    ...['OTHER', 'LANGUAGE', 'IMAGE_OTHER', 'FINISH_REASON_UNSPECIFIED', 'SOMETHING_NEW'].map(
      (reason) => [reason, [text], 'stop', 0] as const,
    ),
    ['STOP', [text, functionCall], 'tool_calls', 1],
    ['MAX_TOKENS', [functionCall], 'tool_calls', 1],
    ['SOMETHING_NEW', [functionCall], 'tool_calls', 1],
    ['STOP', [], 'stop', 0],
    ['MAX_TOKENS', [], 'length', 0],
    [undefined, [text], 'stop', 0],
  ] as [string, JsonObject[], string, number][])(
    '%s with %j is %s',
    (finishReason, parts, expected, calls) => {
      const [choice] = choicesOf({ candidates: [{ content: { parts }, finishReason }] })
      expect(choice?.finish_reason).toBe(expected)
      const { tool_calls: kept } = messageOf(choice)
      expect(Array.isArray(kept) ? kept.length : 0).toBe(calls)
    },
  )

  test('a refused prompt is one empty choice, filtered', async () => {
    const reply = chatFromGoogle(await fixture('blocked'), call, names)
    expect(reply.choices).toEqual([
      {
        index: 0,
        message: {
          role: 'assistant',
          content: '',
          provider_metadata: {
            cloud_a_ml: {
              prompt_feedback: {
                blockReason: 'PROHIBITED_CONTENT',
                blockReasonMessage: 'The prompt could not be submitted.',
              },
            },
          },
        },
        finish_reason: 'content_filter',
      },
    ])
    expect(reply.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 0 })
  })

  test('a candidate without content is an empty choice', () => {
    const [choice] = choicesOf({ candidates: [{ finishReason: 'SAFETY' }] })
    expect(choice?.message).toEqual({
      role: 'assistant',
      content: '',
      provider_metadata: { cloud_a_ml: { finish_reason: 'SAFETY' } },
    })
  })

  test('several candidates are several choices', () => {
    const candidate = (index: number) => ({ index, content: { parts: [{ text: `t${index}` }] } })
    const choices = choicesOf({ candidates: [candidate(0), candidate(1)] })
    expect(choices.map(({ index, message }) => [index, (message as JsonObject).content])).toEqual([
      [0, 't0'],
      [1, 't1'],
    ])
  })
})

test('log probabilities', () => {
  const token = (name: string, logProbability: number) => ({
    token: name,
    tokenId: 1,
    logProbability,
  })
  const logprobsResult = {
    topCandidates: [{ candidates: [token('a', -0.1), token('b', -2)] }],
    chosenCandidates: [token('a', -0.1)],
  }
  const [choice] = choicesOf({ candidates: [{ content: { parts: [text] }, logprobsResult }] })
  const named = (name: string, logprob: number) => ({ token: name, logprob, bytes: null })
  expect(choice?.logprobs).toEqual({
    content: [{ ...named('a', -0.1), top_logprobs: [named('a', -0.1), named('b', -2)] }],
    refusal: null,
  })
})

describe('invalid replies', () => {
  test.each([
    [{}, 'it has no candidates'],
    [{ candidates: [] }, 'it has no candidates'],
    [{ candidates: [], promptFeedback: {} }, 'it has no candidates'],
    [{ candidates: {} }, 'candidates is not an array'],
    [{ candidates: [7] }, 'a candidate is not an object'],
    [{ candidates: [{ content: { parts: 'x' } }] }, 'parts is not an array'],
    [{ candidates: [{ content: { parts: [{ functionCall: {} }] } }] }, 'has no name'],
  ] as [JsonObject, string][])('%j', (reply, message) => {
    const error = failure(reply)
    expect([error.code, error.status]).toEqual(['upstream_transport', 502])
    expect(error.message).toContain(message)
    expect(error.usage).toBeUndefined()
  })

  test.each([
    ...[
      'MALFORMED_FUNCTION_CALL',
      'MALFORMED_RESPONSE',
      'UNEXPECTED_TOOL_CALL',
      'TOO_MANY_TOOL_CALLS',
      'MISSING_THOUGHT_SIGNATURE',
      'NO_IMAGE',
    ].flatMap((reason) => [
      [reason, []],
      [reason, [text, functionCall]],
    ]),
    ...['OTHER', 'LANGUAGE', 'IMAGE_OTHER', 'SOMETHING_NEW'].map((reason) => [reason, []]),
    ['OTHER', [text, functionCall]],
    ['LANGUAGE', [functionCall]],
  ] as [string, JsonObject[]][])(
    'a model that failed with %s, after %j, is the upstream’s error with its words',
    (finishReason, parts) => {
      const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 2 }
      const finishMessage = 'Malformed function call: print(default_api.f(x=1)'
      const candidate = { content: { parts }, finishReason, finishMessage }
      const error = failure({ candidates: [candidate], usageMetadata })
      expect([error.code, error.status]).toEqual(['upstream_http_error', 502])
      expect(error.message).toContain(`${finishReason}: ${finishMessage}`)
      expect(error.details).toEqual({ upstream_code: finishReason })
      expect(error.usage).toMatchObject({ promptTokens: 9, output: 2 })
    },
  )

  test.each([{}, { finishReason: 'FINISH_REASON_UNSPECIFIED' }, { finishReason: '' }])(
    'a candidate with nothing in it and no reason is one that failed: %j',
    (candidate) => {
      const error = failure({ candidates: [candidate as JsonObject] })
      expect(error).toMatchObject({ status: 502, details: { upstream_code: 'UNKNOWN' } })
    },
  )

  test('an error in a reply of status 200 is passed on', () => {
    const error = { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED' }
    expect(failure({ error })).toMatchObject({
      code: 'upstream_http_error',
      status: 429,
      message: 'Quota',
      details: { upstream_code: 'RESOURCE_EXHAUSTED' },
    })
  })

  test('the usage of such a reply is charged', () => {
    const usageMetadata = { promptTokenCount: 9, cachedContentTokenCount: 4, totalTokenCount: 9 }
    expect(failure({ usageMetadata }).usage).toEqual({
      uncachedInput: 5,
      cacheRead: 4,
      cacheWrite: undefined,
      output: 0,
      reasoning: undefined,
      promptTokens: 9,
      totalTokens: 9,
    })
    expect(failure({ candidates: [7], usageMetadata }).usage).toMatchObject({ promptTokens: 9 })
  })
})

describe('usage', () => {
  test.each([
    [{ promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 }, [5, 2, 7]],
    [{ promptTokenCount: 5, thoughtsTokenCount: 3, totalTokenCount: 8 }, [5, 3, 8]],
    [{ promptTokenCount: 5, toolUsePromptTokenCount: 4, candidatesTokenCount: 1 }, [9, 1, 10]],
    [{ promptTokenCount: 5, totalTokenCount: 5 }, [5, 0, 5]],
    [{ promptTokenCount: 5, totalTokenCount: 9 }, [5, undefined, undefined]],
    [{ promptTokenCount: 0, candidatesTokenCount: 0 }, [0, 0, 0]],
  ])('%j', (raw, [prompt, completion, total]) => {
    const usage = usageFromGoogle(raw)
    expect([usage?.prompt_tokens, usage?.completion_tokens, usage?.total_tokens]).toEqual([
      prompt,
      completion,
      total,
    ])
    expect(usage?.provider_usage).toEqual(raw)
  })

  test('tokens that are not text are in the details', () => {
    const usage = usageFromGoogle({
      promptTokenCount: 1000,
      candidatesTokenCount: 1300,
      cachedContentTokenCount: 7,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 10 },
        { modality: 'AUDIO', tokenCount: 500 },
        { modality: 'VIDEO', tokenCount: 490 },
      ],
      candidatesTokensDetails: [
        { modality: 'IMAGE', tokenCount: 1000 },
        { modality: 'TEXT' },
        { modality: 'IMAGE', tokenCount: 290 },
      ],
    })
    expect(usage).toMatchObject({
      prompt_tokens_details: { cached_tokens: 7, audio_tokens: 500, video_tokens: 490 },
      completion_tokens_details: { image_tokens: 1290 },
    })
  })

  test.each([
    ['text', '12'],
    ['a fraction', 1.5],
    ['a negative count', -3],
  ] as const)(
    'a counter that is %s is passed on unchanged, and not added to others',
    (_, count) => {
      const counted = { promptTokenCount: 5, candidatesTokenCount: 2 }
      expect(usageFromGoogle({ ...counted, thoughtsTokenCount: count })).toMatchObject({
        prompt_tokens: 5,
        completion_tokens: 2,
        completion_tokens_details: { reasoning_tokens: count },
      })
      expect(usageFromGoogle({ ...counted, cachedContentTokenCount: count })).toMatchObject({
        prompt_tokens: 5,
        prompt_tokens_details: { cached_tokens: count },
      })
      expect(usageFromGoogle({ ...counted, promptTokenCount: count })).toMatchObject({
        prompt_tokens: count,
        completion_tokens: 2,
      })
      expect(usageFromGoogle({ ...counted, candidatesTokenCount: count })).toMatchObject({
        prompt_tokens: 5,
        completion_tokens: count,
      })
    },
  )

  test('without counters usage is absent', () => {
    for (const raw of [undefined, null, {}, { trafficType: 'ON_DEMAND' }]) {
      expect(usageFromGoogle(raw)).toBeUndefined()
    }
  })
})

function failure(reply: JsonObject): GatewayError {
  try {
    chatFromGoogle(reply, call, names)
  } catch (error) {
    if (error instanceof GatewayError) return error
  }
  throw new Error('no GatewayError')
}
