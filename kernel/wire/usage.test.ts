import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../plugin/json.ts'
import {
  createUsageTap,
  readChatUsage,
  readEmbeddingsUsage,
  readMessagesUsage,
  readResponsesUsage,
} from './usage.ts'

describe('usage of chat completions', () => {
  test('cached input is part of the prompt, reasoning part of the output', () => {
    expect(
      readChatUsage({
        prompt_tokens: 100,
        completion_tokens: 40,
        total_tokens: 140,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 30 },
      }),
    ).toEqual({
      uncachedInput: 30,
      cacheRead: 60,
      cacheWrite: 10,
      output: 40,
      reasoning: 30,
      promptTokens: 100,
      totalTokens: 140,
    })
  })

  test('cache writes for an hour are counted separately', () => {
    const written = (cache_write_1h_tokens?: number) =>
      readChatUsage({
        prompt_tokens: 100,
        completion_tokens: 1,
        prompt_tokens_details: {
          cache_write_tokens: 30,
          ...(cache_write_1h_tokens === undefined ? {} : { cache_write_1h_tokens }),
        },
      })
    expect(written(10)).toMatchObject({ cacheWrite: 30, cacheWriteHour: 10 })
    expect(written(0)).not.toHaveProperty('cacheWriteHour')
    expect(written()).not.toHaveProperty('cacheWriteHour')
  })

  test('non-text usage is counted separately', () => {
    expect(
      readChatUsage({
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: {
          audio_tokens: 90,
          image_tokens: 5,
          video_tokens: 0,
          cached_tokens: 40,
          cached_tokens_details: { audio_tokens: 30, text_tokens: 10 },
        },
        completion_tokens_details: { audio_tokens: 1, image_tokens: null, video_tokens: 2 },
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
      }),
    ).toMatchObject({
      parts: {
        input_audio: 60,
        cached_audio: 30,
        // All that was not cached is sound.
        cached_image: 5,
        output_audio: 1,
        output_video: 2,
      },
      uses: { web_search: 2 },
    })
    const text = {
      prompt_tokens: 100,
      prompt_tokens_details: { audio_tokens: 0 },
      server_tool_use: { web_search_requests: 0 },
    }
    expect(readChatUsage(text)).not.toHaveProperty('parts')
    expect(readChatUsage(text)).not.toHaveProperty('uses')
  })

  test('hosted tools are counted in a total, too', () => {
    const counts = (more: JsonObject) => ({ prompt_tokens: 10, completion_tokens: 2, ...more })
    for (const [total, unit] of [
      ['num_server_side_tools_used', 'server_side_tool'],
      ['num_sources_used', 'source'],
    ] as const) {
      expect(readChatUsage(counts({ [total]: 7 }))?.uses).toEqual({ [unit]: 7 })
      expect(readChatUsage(counts({ [total]: 0 }))).not.toHaveProperty('uses')
    }
    const response = { input_tokens: 10, output_tokens: 2, num_server_side_tools_used: 1 }
    expect(readResponsesUsage(response)?.uses).toEqual({ server_side_tool: 1 })
  })

  test('the tier is the one that the reply names', () => {
    const counts = { prompt_tokens: 10, completion_tokens: 2 }
    expect(readChatUsage(counts, 'priority')).toMatchObject({ tier: 'priority' })
    expect(readChatUsage(counts, 'standard')).toMatchObject({ tier: 'default' })
    expect(readChatUsage(counts)).not.toHaveProperty('tier')
    expect(readMessagesUsage({ input_tokens: 1, service_tier: 'batch' })).toMatchObject({
      tier: 'batch',
    })
  })

  test('absent, zero and positive are three things', () => {
    const { cacheRead } = readChatUsage({ prompt_tokens: 5, completion_tokens: 0 }) ?? {}
    expect(cacheRead).toBeUndefined()
    const zero = {
      prompt_tokens: 5,
      completion_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 },
    }
    expect(readChatUsage(zero)).toMatchObject({ cacheRead: 0, output: 0, totalTokens: 5 })
    expect(Object.is(readChatUsage({ prompt_tokens: -0 })?.promptTokens, 0)).toBe(true)
    expect(readChatUsage({ prompt_tokens: 5 })).toMatchObject({
      uncachedInput: 5,
      output: undefined,
    })
  })

  test('null is absent, and no reason for doubt', () => {
    const usage = readChatUsage({
      prompt_tokens: 5,
      completion_tokens: 2,
      total_tokens: null,
      prompt_tokens_details: { cached_tokens: null },
    })
    expect(usage).toMatchObject({ cacheRead: undefined, totalTokens: 7 })
    expect(usage).not.toHaveProperty('doubt')
  })

  test.each([
    ['all input was cached', { prompt_tokens_details: { cached_tokens: 100 } }],
    ['all input was written to the cache', { prompt_tokens_details: { cache_write_tokens: 100 } }],
    ['all output was reasoning', { completion_tokens_details: { reasoning_tokens: 20 } }],
  ])('that %s is nothing to doubt', (_, details) => {
    const usage = readChatUsage({ prompt_tokens: 100, completion_tokens: 20, ...details })
    expect(usage).not.toHaveProperty('doubt')
  })

  test('cached input and cache writes that are more than the input together are left out', () => {
    const details = { cached_tokens: 60, cache_write_tokens: 60, cache_write_1h_tokens: 60 }
    expect(
      readChatUsage({ prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: details }),
    ).toEqual({
      uncachedInput: 100,
      cacheRead: undefined,
      cacheWrite: undefined,
      output: 20,
      reasoning: undefined,
      promptTokens: 100,
      totalTokens: 120,
      doubt: 'cached_exceeds_input',
    })
  })

  test.each([
    [undefined],
    [null],
    [{}],
    [[]],
    ['7'],
    [{ total_tokens: 7 }],
    [{ prompt_tokens: null }],
  ])('%j has no usable count', (raw) => {
    expect(readChatUsage(raw as JsonValue | undefined)).toBeUndefined()
  })

  test.each([
    [{ prompt_tokens: -1, completion_tokens: 2 }, 'negative_count'],
    [{ prompt_tokens: 1.5, completion_tokens: 2 }, 'non_integer_count'],
    [{ prompt_tokens: '3', completion_tokens: 2 }, 'non_integer_count'],
    [{ prompt_tokens: 2 ** 60, completion_tokens: 2 }, 'unsafe_count'],
    [{ prompt_tokens: 1, completion_tokens: 2, total_tokens: 9 }, 'total_mismatch'],
    [
      { prompt_tokens: 1, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 5 } },
      'cached_exceeds_input',
    ],
  ])('%j is doubted: %s', (raw, doubt) => {
    expect(readChatUsage(raw)).toMatchObject({ output: 2, doubt })
  })

  test('a side that is missing is doubted unless the total proves that it is nothing', () => {
    expect(readChatUsage({ prompt_tokens: 5 })?.doubt).toBe('output_missing')
    expect(readChatUsage({ prompt_tokens: 5, total_tokens: 9 })?.doubt).toBe('output_missing')
    expect(readChatUsage({ prompt_tokens: 5, total_tokens: 5 })?.doubt).toBeUndefined()
    expect(readChatUsage({ completion_tokens: 5 })?.doubt).toBe('input_missing')
    expect(readEmbeddingsUsage({ prompt_tokens: 5 })?.doubt).toBeUndefined()
  })

  test('reasoning in addition to the output is added if the total proves it', () => {
    const beside = {
      prompt_tokens: 10,
      completion_tokens: 4,
      completion_tokens_details: { reasoning_tokens: 6 },
    }
    const proven = readChatUsage({ ...beside, total_tokens: 20 })
    expect(proven).toMatchObject({ output: 10, reasoning: 6, totalTokens: 20 })
    expect(proven?.doubt).toBeUndefined()
    expect(readChatUsage(beside)).toMatchObject({ output: 4, doubt: 'reasoning_exceeds_output' })
    for (const total_tokens of [8, 12, 21]) {
      expect(readChatUsage({ ...beside, total_tokens })).toMatchObject({
        output: 4,
        doubt: 'total_mismatch',
      })
    }
  })

  test('buckets never overlap, whatever an upstream states', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (a, b, c, d) => {
        const usage = readChatUsage({
          prompt_tokens: a,
          completion_tokens: b,
          total_tokens: c,
          prompt_tokens_details: { cached_tokens: d },
        } as JsonValue)
        if (usage === undefined) return
        const { uncachedInput = 0, cacheRead = 0, cacheWrite = 0, promptTokens = 0 } = usage
        expect(uncachedInput).toBeGreaterThanOrEqual(0)
        if (usage.promptTokens !== undefined) {
          expect(uncachedInput + (cacheRead ?? 0) + (cacheWrite ?? 0)).toBe(promptTokens)
        }
      }),
    )
  })
})

test('usage of responses', () => {
  expect(
    readResponsesUsage({
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 6,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 16,
    }),
  ).toEqual({
    uncachedInput: 6,
    cacheRead: 4,
    cacheWrite: undefined,
    output: 6,
    reasoning: 2,
    promptTokens: 10,
    totalTokens: 16,
  })
})

test('usage of embeddings is input alone', () => {
  expect(readEmbeddingsUsage({ prompt_tokens: 7, total_tokens: 7 })).toMatchObject({
    uncachedInput: 7,
    output: undefined,
    totalTokens: 7,
  })
  expect(readEmbeddingsUsage({ total_tokens: 7 })).toMatchObject({ uncachedInput: 7 })
  expect(readEmbeddingsUsage({ prompt_tokens: 7 })).toMatchObject({ totalTokens: 7 })
  expect(readEmbeddingsUsage({ prompt_tokens: 7, total_tokens: 9 })).toMatchObject({
    uncachedInput: 7,
    doubt: 'total_mismatch',
  })
  expect(readEmbeddingsUsage({ prompt_tokens: 7, total_tokens: 7 })).not.toHaveProperty('doubt')
  expect(readEmbeddingsUsage({})).toBeUndefined()
})

describe('the usage of a stream', () => {
  const counts = (output: number, total = 10 + output) => ({
    prompt_tokens: 10,
    completion_tokens: output,
    total_tokens: total,
  })
  function after(...stated: JsonValue[]) {
    const tap = createUsageTap(readChatUsage)
    for (const one of stated) tap.take(one)
    return tap.usage
  }

  test('is the latest that was stated', () => {
    expect(after(counts(1), counts(2), null)).toMatchObject({ output: 2 })
    expect(after(counts(1), counts(2))).not.toHaveProperty('doubt')
    expect(after()).toBeUndefined()
  })

  test('is the latest that adds up, doubted when a later one does not', () => {
    expect(after(counts(1), counts(2), counts(3, 99))).toMatchObject({
      output: 2,
      doubt: 'total_mismatch',
    })
    expect(after(counts(3, 99))).toMatchObject({ output: 3, doubt: 'total_mismatch' })
    expect(after(counts(3, 99), counts(4))).toMatchObject({ output: 4 })
    expect(after(counts(3, 99), counts(4))).not.toHaveProperty('doubt')
  })
})

test('cached input may be all of the input, and not a token more', () => {
  const read = (cached_tokens: number) =>
    readChatUsage({
      prompt_tokens: 10,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens },
    })
  expect(read(10)).toMatchObject({ uncachedInput: 0, cacheRead: 10 })
  expect(read(10)).not.toHaveProperty('doubt')
  expect(read(11)).toMatchObject({ uncachedInput: 10, doubt: 'cached_exceeds_input' })
})
