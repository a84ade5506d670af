import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyUsage } from '../../test/harness/any-usage.ts'
import type { JsonObject, JsonValue } from '../plugin/json.ts'
import { streamEvent } from '../plugin/stream.ts'
import { createChatStream } from './chat-stream.ts'
import { readChatReply, readResponsesReply } from './reply.ts'
import { createResponsesStream } from './responses-stream.ts'
import { readChatUsage, readMessagesUsage, readResponsesUsage } from './usage.ts'
import { chat, messages, responses } from './usage-dialects.fixture.ts'

const fact = (reply: JsonObject) => readChatReply({ choices: [], ...reply }).usage

describe.each([
  ['chat completions', chat, fact],
  ['responses', responses, (reply: JsonObject) => readResponsesReply(reply).usage],
  ['messages', messages, ({ usage }: JsonObject) => readMessagesUsage(usage)],
] as const)('what sellers of %s count', (_, rows, read) => {
  test.each(rows.map((row) => [row.seller, row] as const))('%s', (_, { reply, used }) => {
    const usage = read(reply)
    expect(usage).toMatchObject(used)
    expect(usage).not.toHaveProperty('doubt')
    for (const name of ['parts', 'uses', 'tier', 'statedUsd'] as const) {
      expect(usage?.[name]).toEqual(used[name])
    }
  })
})

describe('a stream', () => {
  const chunk = (more: JsonObject) => streamEvent(JSON.stringify({ id: 'a', ...more }))

  test('of Groq has its counters in x_groq, and the tier in any chunk', () => {
    const stream = createChatStream({ publicModel: 'm', native: true })
    const usage = { prompt_tokens: 17, completion_tokens: 3, total_tokens: 20 }
    stream.push([
      chunk({ service_tier: 'flex', choices: [{ index: 0, delta: { content: 'a' } }] }),
      chunk({
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        x_groq: { id: 'req_1', usage },
      }),
      streamEvent('[DONE]'),
    ])
    expect(stream.usage).toMatchObject({ uncachedInput: 17, output: 3, tier: 'flex' })
  })

  test('of responses counts tools by finished items, if the last event does not repeat them', () => {
    const event = (type: string, more: JsonObject) =>
      streamEvent(JSON.stringify({ type, ...more }), type)
    const search = { id: 'ws_1', type: 'web_search_call', action: { type: 'search' } }
    const usage = { input_tokens: 10, output_tokens: 2 }
    for (const output of [undefined, [], [search]]) {
      const stream = createResponsesStream({ publicModel: 'm' })
      stream.push([
        event('response.output_item.done', { output_index: 0, item: search }),
        event('response.completed', {
          response: { status: 'completed', usage, ...(output && { output }) },
        }),
      ])
      expect(stream.usage).toMatchObject({ uses: { web_search: 1 } })
    }
  })
})

describe('contradictory counts are doubted', () => {
  const counts = { prompt_tokens: 100, completion_tokens: 50 }
  test.each<[string, JsonObject]>([
    ['parts_exceed_whole', { prompt_tokens_details: { audio_tokens: 101 } }],
    ['parts_exceed_whole', { prompt_tokens_details: { audio_tokens: 60, image_tokens: 41 } }],
    ['parts_exceed_whole', { completion_tokens_details: { audio_tokens: 51 } }],
    [
      'parts_exceed_whole',
      {
        prompt_tokens_details: {
          cached_tokens: 10,
          audio_tokens: 5,
          cached_tokens_details: { audio_tokens: 6 },
        },
      },
    ],
    ['parts_exceed_whole', { prompt_tokens_details: { cache_write_1h_tokens: 1 } }],
    [
      'parts_exceed_whole',
      { prompt_tokens_details: { cache_write_tokens: 3, cache_write_1h_tokens: 4 } },
    ],
    ['cached_exceeds_input', { cached_tokens: 101 }],
    ['total_mismatch', { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 41 }],
    ['negative_count', { prompt_tokens_details: { audio_tokens: -1 } }],
    ['negative_count', { server_tool_use: { web_search_requests: -1 } }],
    ['non_integer_count', { num_search_queries: '3' }],
    ['unsafe_count', { num_sources_used: 2 ** 60 }],
  ])('%s: %j', (doubt, more) => {
    expect(readChatUsage({ ...counts, ...more })).toMatchObject({ doubt })
  })

  test('parts of a cache write are not doubted', () => {
    const details = { cache_write_tokens: 40, cached_tokens: 30, image_tokens: 95 }
    const usage = readChatUsage({ ...counts, prompt_tokens_details: details })
    expect(usage).toMatchObject({ parts: { input_image: 30, cached_image: 30 } })
    expect(usage).not.toHaveProperty('doubt')
  })
})

test('a tier that is not text, or is too long, has no price', () => {
  const counts = { prompt_tokens: 1, completion_tokens: 1 }
  expect(readChatUsage(counts, 7)?.tier).toBe('7')
  expect(readChatUsage(counts, { type: 'flex' })?.tier).toBe('{"type":"flex"}')
  expect(readChatUsage(counts, 'flex'.padEnd(10_000))?.tier).toHaveLength(100)
  expect(readChatUsage(counts, 'Priority')?.tier).toBe('priority')
  for (const nothing of [null, '', undefined]) {
    expect(readChatUsage(counts, nothing)).not.toHaveProperty('tier')
  }
})

test('passes on a cost that is not a number, for billing to judge', () => {
  const stated = (cost: JsonValue) => readChatUsage({ prompt_tokens: 1, cost })?.statedUsd
  expect(stated('0.5')).toEqual(['0.5'])
  expect(stated(-1)).toEqual(['-1'])
  expect(stated('x'.repeat(10_000))?.[0]).toHaveLength(40)
  expect(stated({ total_cost: 1, currency: 'EUR' })).toBeUndefined()
  expect(stated({ amount: 1 })).toBeUndefined()
  expect(stated(null)).toBeUndefined()
  const own = { prompt_tokens: 1, cost: 0, is_byok: true }
  expect(readChatUsage(own)?.statedUsd).toEqual(['0', 'undefined'])
})

test('whatever is stated: no throw, and only counts that can be, in buckets that hold their parts', () => {
  let parted = 0
  fc.assert(
    fc.property(
      anyUsage,
      fc.constantFrom(readChatUsage, readResponsesUsage, readMessagesUsage),
      (raw, read) => {
        const usage = read(raw, raw.service_tier)
        if (usage === undefined) return
        const { parts = {}, uses = {}, tier = '', statedUsd = [], doubt: _, ...counts } = usage
        for (const count of Object.values({ ...counts, ...parts, ...uses })) {
          if (count === undefined) continue
          expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
        }
        const {
          uncachedInput = 0,
          cacheRead = 0,
          cacheWrite = 0,
          cacheWriteHour = 0,
          output = 0,
        } = usage
        const sumOf = (side: string) =>
          Object.entries(parts).reduce((sum, [name, n]) => sum + (name.startsWith(side) ? n : 0), 0)
        expect(sumOf('input')).toBeLessThanOrEqual(uncachedInput)
        expect(sumOf('cached')).toBeLessThanOrEqual(cacheRead)
        expect(sumOf('output')).toBeLessThanOrEqual(output)
        expect(cacheWriteHour).toBeLessThanOrEqual(cacheWrite)
        if (usage.promptTokens !== undefined) {
          expect(uncachedInput + cacheRead + cacheWrite).toBe(usage.promptTokens)
        }
        expect(tier.length).toBeLessThanOrEqual(100)
        for (const amount of statedUsd) expect(amount.length).toBeLessThanOrEqual(40)
        if (Object.keys(parts).length > 0) parted++
      },
    ),
    { numRuns: 3000 },
  )
  expect(parted).toBeGreaterThan(300)
})
