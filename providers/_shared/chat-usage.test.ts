import { describe, expect, test } from 'bun:test'
import { parseExact } from 'model-gateway/wire'
import { usageFromConverse, usageFromMessages } from './chat-usage.ts'

const doubtful = [
  ['text', '12'],
  ['a fraction', 1.5],
  ['a negative count', -3],
  ['more than JavaScript counts to', parseExact('9007199254740993')],
] as const

describe('invalid counters', () => {
  test.each(doubtful)('%s: cache counters are passed on unchanged', (_, count) => {
    for (const usage of [
      usageFromMessages({
        input_tokens: 100,
        cache_read_input_tokens: count,
        cache_creation_input_tokens: 20,
        output_tokens: 7,
      }),
      usageFromConverse({
        usage: {
          inputTokens: 100,
          cacheReadInputTokens: count,
          cacheWriteInputTokens: 20,
          outputTokens: 7,
        },
      }),
    ]) {
      expect(usage).toMatchObject({ prompt_tokens: 120, completion_tokens: 7, total_tokens: 127 })
      expect(usage?.prompt_tokens_details).toEqual({ cached_tokens: count, cache_write_tokens: 20 })
    }
  })

  test.each(doubtful)('%s: input and output are passed on unchanged', (_, count) => {
    expect(usageFromMessages({ input_tokens: count, output_tokens: 7 })).toMatchObject({
      prompt_tokens: count,
      completion_tokens: 7,
    })
    expect(usageFromMessages({ input_tokens: 5, output_tokens: count })).toMatchObject({
      prompt_tokens: 5,
      completion_tokens: count,
    })
  })

  test('null is not a counter', () => {
    const usage = usageFromMessages({ input_tokens: 5, cache_read_input_tokens: null })
    expect(usage).toEqual({
      prompt_tokens: 5,
      provider_usage: { input_tokens: 5, cache_read_input_tokens: null },
    })
  })
})

describe('additional samplings', () => {
  const reply = { input_tokens: 23_000, output_tokens: 1000 }
  const message = { type: 'message', ...reply }
  const compaction = {
    type: 'compaction',
    input_tokens: 180_000,
    output_tokens: 3500,
    cache_read_input_tokens: 40,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
  }

  test('a compaction is charged in addition to the counters of the reply', () => {
    const usage = usageFromMessages({ ...reply, iterations: [compaction, message] })
    expect(usage).toMatchObject({
      prompt_tokens: 203_070,
      completion_tokens: 4500,
      total_tokens: 207_570,
      prompt_tokens_details: {
        cached_tokens: 40,
        cache_write_tokens: 30,
        cache_write_1h_tokens: 10,
      },
    })
    expect(usage).not.toHaveProperty('server_tool_use')
  })

  test('turns of the reply itself are in its counters', () => {
    for (const iterations of [null, [], [message, message]]) {
      expect(usageFromMessages({ ...reply, iterations })).toMatchObject({
        prompt_tokens: 23_000,
        completion_tokens: 1000,
      })
    }
  })

  test('tokens of another model count as a tool, because their price differs', () => {
    const advice = { ...message, type: 'advisor_message', model: 'claude-opus-5' }
    const server_tool_use = { web_search_requests: 0 }
    const raw = { ...reply, server_tool_use, iterations: [message, advice, advice] }
    const usage = usageFromMessages(raw)
    expect(usage).toMatchObject({
      prompt_tokens: 23_000,
      server_tool_use: { web_search_requests: 0, advisor_message: 2 },
    })
    expect(usage?.provider_usage).toEqual(raw)
  })
})
