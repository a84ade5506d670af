import { describe, expect, test } from 'bun:test'
import { parseExact } from 'model-gateway/plugin'
import { usageFromConverse, usageFromMessages } from './chat-usage.ts'

const doubtful = [
  ['text', '12'],
  ['a fraction', 1.5],
  ['a negative count', -3],
  ['more than JavaScript counts to', parseExact('9007199254740993')],
] as const

describe('counters that cannot be true', () => {
  test.each(doubtful)('%s: what was written or read is told on as it stands', (_, count) => {
    for (const usage of [
      usageFromMessages({
        input_tokens: 100,
        cache_read_input_tokens: count,
        cache_creation_input_tokens: 20,
        output_tokens: 7,
      }),
      usageFromConverse({
        inputTokens: 100,
        cacheReadInputTokens: count,
        cacheWriteInputTokens: 20,
        outputTokens: 7,
      }),
    ]) {
      expect(usage).toMatchObject({ prompt_tokens: 120, completion_tokens: 7, total_tokens: 127 })
      expect(usage?.prompt_tokens_details).toEqual({ cached_tokens: count, cache_write_tokens: 20 })
    }
  })

  test.each(doubtful)('%s: input and output are told on as they stand', (_, count) => {
    expect(usageFromMessages({ input_tokens: count, output_tokens: 7 })).toMatchObject({
      prompt_tokens: count,
      completion_tokens: 7,
    })
    expect(usageFromMessages({ input_tokens: 5, output_tokens: count })).toMatchObject({
      prompt_tokens: 5,
      completion_tokens: count,
    })
  })

  test('null is no counter', () => {
    const usage = usageFromMessages({ input_tokens: 5, cache_read_input_tokens: null })
    expect(usage).toEqual({
      prompt_tokens: 5,
      provider_usage: { input_tokens: 5, cache_read_input_tokens: null },
    })
  })
})
