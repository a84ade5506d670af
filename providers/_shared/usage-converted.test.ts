import { describe, expect, test } from 'bun:test'
import { searchesOf, usageFromGoogle } from 'model-gateway/google'
import type { JsonObject } from 'model-gateway/plugin'
import { readChatUsage, type Usage } from 'model-gateway/wire'
import { usageFromConverse, usageFromMessages } from './chat-usage.ts'
import { usageFromResponses } from './responses-chat-output.ts'

/** What a reply that was converted to a chat completion is priced by. */
const read = (usage: JsonObject | undefined) => readChatUsage(usage)

describe('Converse', () => {
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamMetadataEvent.html
  const usage = { inputTokens: 51, outputTokens: 78, totalTokens: 229 }

  test('caches by their lifetimes, and tools', () => {
    const counted = {
      ...usage,
      cacheReadInputTokens: 60,
      cacheWriteInputTokens: 40,
      cacheDetails: [
        { ttl: '1h', inputTokens: 30 },
        { ttl: '5m', inputTokens: 10 },
      ],
      serverToolUsage: { webSearchRequests: 2 },
    }
    expect(read(usageFromConverse({ usage: counted }))).toMatchObject({
      ...{ uncachedInput: 51, cacheRead: 60, cacheWrite: 40, cacheWriteHour: 30, output: 78 },
      uses: { web_search: 2 },
    })
    const none = { usage: { ...usage, serverToolUsage: {} } }
    expect(read(usageFromConverse(none))).not.toHaveProperty('uses')
  })

  test.each<[JsonObject, string | undefined]>([
    [{}, undefined],
    [{ serviceTier: { type: 'default' } }, 'default'],
    [{ serviceTier: { type: 'flex' } }, 'flex'],
    [{ performanceConfig: { latency: 'optimized' } }, 'latency=optimized'],
    [
      { serviceTier: { type: 'default' }, performanceConfig: { latency: 'standard' } },
      'default+latency=standard',
    ],
  ])('the tier of %j is %p', (beside, tier) => {
    expect(read(usageFromConverse({ usage, ...beside }))?.tier).toBe(tier)
  })
})

describe('Google content', () => {
  // https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse
  const of = (modality: string, tokenCount: number) => ({ modality, tokenCount })
  const usage = { promptTokenCount: 1000, candidatesTokenCount: 300, totalTokenCount: 1450 }

  test('tokens that are not text: in the prompt, its cached part, tools, and the answer', () => {
    const raw = {
      ...usage,
      cachedContentTokenCount: 400,
      thoughtsTokenCount: 100,
      toolUsePromptTokenCount: 50,
      promptTokensDetails: [of('TEXT', 300), of('AUDIO', 500), of('IMAGE', 200)],
      cacheTokensDetails: [of('TEXT', 100), of('AUDIO', 300)],
      toolUsePromptTokensDetails: [of('IMAGE', 20), of('DOCUMENT', 30)],
      candidatesTokensDetails: [of('TEXT', 100), of('IMAGE', 200)],
    }
    const read = readChatUsage(usageFromGoogle(raw)) as Usage
    expect(read).toMatchObject({
      ...{ uncachedInput: 650, cacheRead: 400, output: 400, reasoning: 100, totalTokens: 1450 },
      parts: { input_audio: 200, cached_audio: 300, input_image: 220, output_image: 200 },
    })
    expect(read).not.toHaveProperty('doubt')
  })

  test.each<[JsonObject, string | undefined]>([
    [{ trafficType: 'ON_DEMAND' }, 'default'],
    [{ trafficType: 'ON_DEMAND_PRIORITY' }, 'priority'],
    [{ trafficType: 'ON_DEMAND_FLEX' }, 'flex'],
    [{ trafficType: 'PROVISIONED_THROUGHPUT' }, 'provisioned_throughput'],
    [{ trafficType: 'TRAFFIC_TYPE_UNSPECIFIED' }, undefined],
    [{ serviceTier: 'SERVICE_TIER_PRIORITY' }, 'priority'],
    [{ serviceTier: 'standard' }, 'default'],
    [{}, undefined],
  ])('the tier of %j is %p', (beside, tier) => {
    expect(read(usageFromGoogle({ ...usage, ...beside }))?.tier).toBe(tier)
  })

  // https://ai.google.dev/gemini-api/docs/google-search#pricing
  const web = { web: { uri: 'https://a.test' } }
  test.each<[string, JsonObject, JsonObject | undefined]>([
    ['each query once', { webSearchQueries: ['a', '', 'b', 'a'] }, { grounding: 1, web_search: 2 }],
    ['pages that were found', { groundingChunks: [web, web] }, { grounding: 1, web_search: 1 }],
    ['maps', { groundingChunks: [{ maps: {} }] }, { maps_grounding: 1 }],
    ['own data', { groundingChunks: [{ retrievedContext: {} }] }, { data_grounding: 1 }],
    ['nothing', { webSearchQueries: [] }, undefined],
  ])('what was searched: %s', (_, grounding_metadata, uses) => {
    const searches = searchesOf([{ grounding_metadata }])
    expect(searches).toEqual(uses)
    expect(read(usageFromGoogle(usage, searches))?.uses).toEqual(
      uses as Record<string, number> | undefined,
    )
  })
})

test('Claude over chat keeps cache lifetimes, tools and price modifiers', () => {
  const usage = usageFromMessages({
    input_tokens: 10,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
    output_tokens: 5,
    service_tier: 'standard',
    inference_geo: 'us',
    server_tool_use: { web_search_requests: 1 },
  })
  expect(read(usage)).toMatchObject({
    ...{ uncachedInput: 10, cacheWrite: 30, cacheWriteHour: 20, output: 5 },
    tier: 'default+inference_geo=us',
    uses: { web_search: 1 },
  })
})

test('responses over chat keep hosted tools', () => {
  const output = [{ type: 'web_search_call', action: { type: 'search' } }, { type: 'message' }]
  const usage = usageFromResponses({ input_tokens: 10, output_tokens: 5 }, output)
  expect(read(usage)).toMatchObject({ uncachedInput: 10, uses: { web_search: 1 } })
})
