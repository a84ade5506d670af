/** Calls that once had no price, with what their upstream answers and what that costs. */
import type { JsonObject } from 'model-gateway/plugin'
import { frame, json, type Reply, sse } from '../../harness/upstream.ts'
import { eventFrame, framed } from '../../harness/upstream-clouds-aws.ts'

export interface Case {
  readonly name: string
  readonly path?: string
  readonly model: string
  readonly body?: JsonObject
  readonly reply: Reply
  /** By the prices below, computed by hand. */
  readonly usd: string
  readonly tier?: string
}

const say = { role: 'assistant', content: 'Downhill.' }
export const chat = (usage: JsonObject, more: JsonObject = {}) =>
  json({
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'u' },
    choices: [{ index: 0, message: say, finish_reason: 'stop' }],
    usage,
    ...more,
  })
export const counts = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
export const responses = '/v1/responses'
const messages = '/v1/messages'
const claude = (usage: JsonObject) =>
  json({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' },
    content: [{ type: 'text', text: 'Downhill.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: 10, service_tier: 'standard', ...usage },
  })
const converse = (beside: JsonObject, usage: JsonObject = {}) => ({
  usage: { inputTokens: 10, outputTokens: 10, totalTokens: 20, ...usage },
  metrics: { latencyMs: 5 },
  ...beside,
})
const named = (type: string, more: JsonObject) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`

export const cases: readonly Case[] = [
  {
    name: 'the usual tier, asked for by name',
    model: 'compat',
    body: { service_tier: 'auto' },
    reply: chat(counts, { service_tier: 'default' }),
    usd: '0.00028',
    tier: 'default',
  },
  {
    name: 'the priority tier, which nobody asked for by name',
    model: 'compat',
    body: { service_tier: 'auto' },
    reply: chat(counts, { service_tier: 'priority' }),
    usd: '0.00056',
    tier: 'priority',
  },
  {
    name: 'the flex tier, in a stream that names it at its beginning alone',
    model: 'compat',
    body: { service_tier: 'flex', stream: true },
    reply: sse([
      frame({ service_tier: 'flex', choices: [{ index: 0, delta: say }] }),
      frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      frame({ choices: [], usage: counts }),
      'data: [DONE]\n\n',
    ]),
    usd: '0.00014',
    tier: 'flex',
  },
  {
    name: 'a long prompt',
    model: 'compat',
    reply: chat({
      ...{ prompt_tokens: 250_000, completion_tokens: 10, total_tokens: 250_010 },
      prompt_tokens_details: { cached_tokens: 50_000 },
    }),
    usd: '0.85012',
  },
  {
    name: 'a cache that is kept for an hour',
    path: messages,
    model: 'claude',
    body: { max_tokens: 20 },
    reply: claude({
      cache_creation_input_tokens: 1000,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 1000 },
    }),
    usd: '0.0041',
    tier: 'default',
  },
  {
    name: 'caches of both lifetimes, in a stream',
    path: messages,
    model: 'claude',
    body: { max_tokens: 20, stream: true },
    reply: sse([
      named('message_start', {
        message: {
          ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] },
          usage: {
            input_tokens: 10,
            output_tokens: 1,
            cache_creation_input_tokens: 1000,
            cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 600 },
          },
        },
      }),
      named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 10 } }),
      named('message_stop', {}),
    ]),
    usd: '0.0035',
  },
  {
    name: 'Claude in one country, by chat',
    model: 'claude',
    reply: claude({ inference_geo: 'us' }),
    usd: '0.00011',
    tier: 'default+inference_geo=us',
  },
  {
    name: 'a cache that is kept for an hour, in a stream of Converse',
    model: 'converse',
    body: { stream: true },
    reply: framed([
      eventFrame('messageStart', { role: 'assistant' }),
      eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Downhill.' } }),
      eventFrame('messageStop', { stopReason: 'end_turn' }),
      eventFrame(
        'metadata',
        converse(
          { serviceTier: { type: 'default' } },
          { cacheWriteInputTokens: 1000, cacheDetails: [{ ttl: '1h', inputTokens: 1000 }] },
        ),
      ),
    ]),
    usd: '0.0041',
    tier: 'default',
  },
  {
    name: 'Converse at the speed that was asked for',
    model: 'converse',
    body: { performance_config: { latency: 'optimized' } },
    reply: json({
      output: { message: { role: 'assistant', content: [{ text: 'Downhill.' }] } },
      stopReason: 'end_turn',
      ...converse({ performanceConfig: { latency: 'optimized' } }),
    }),
    usd: '0.00013',
    tier: 'latency=optimized',
  },
  {
    name: 'sound, heard and made',
    model: 'compat',
    reply: chat({
      ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
      prompt_tokens_details: { audio_tokens: 60 },
      completion_tokens_details: { audio_tokens: 40 },
    }),
    usd: '0.00464',
  },
  {
    name: 'tools that the upstream runs',
    path: responses,
    model: 'compat',
    reply: json({
      ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'u' },
      output: [
        { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'a' } },
        { type: 'web_search_call', status: 'completed', action: { type: 'open_page', url: 'u' } },
        { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'b' } },
        { type: 'file_search_call', status: 'completed' },
        { type: 'code_interpreter_call', status: 'completed', container_id: 'cntr_1' },
        { type: 'code_interpreter_call', status: 'completed', container_id: 'cntr_1' },
      ],
      usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
    }),
    usd: '0.05278',
  },
  {
    name: 'searches of Gemini, served with priority',
    model: 'gemini',
    reply: json({
      responseId: 'r',
      modelVersion: 'gemini-3-flash',
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'Downhill.' }] },
          finishReason: 'STOP',
          groundingMetadata: { webSearchQueries: ['rivers', 'hills', 'rivers'] },
        },
      ],
      usageMetadata: {
        ...{ promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
        trafficType: 'ON_DEMAND_PRIORITY',
      },
    }),
    usd: '0.02056',
    tier: 'priority',
  },
  {
    name: 'cached tokens under the name that Moonshot has for them',
    model: 'compat',
    reply: chat({ ...counts, cached_tokens: 80 }),
    usd: '0.00016',
  },
  {
    name: 'what the seller says that it costs',
    model: 'resold',
    body: { service_tier: 'flex' },
    reply: chat({ ...counts, cost: 0.00014321, is_byok: false }, { service_tier: 'odd' }),
    usd: '0.00014321',
    tier: 'odd',
  },
]

export const sheet = {
  input_usd_per_million: '2',
  output_usd_per_million: '8',
  cache_read_usd_per_million: '0.5',
  cache_write_usd_per_million: '2.5',
  cache_write_1h_usd_per_million: '4',
  input_audio_usd_per_million: '32',
  output_audio_usd_per_million: '64',
  web_search_usd_per_thousand: '10',
  file_search_usd_per_thousand: '2.5',
  container_usd_per_thousand: '30',
  long_prompts: [
    {
      above_tokens: 200_000,
      input_usd_per_million: '4',
      output_usd_per_million: '12',
      cache_read_usd_per_million: '1',
    },
  ],
  tiers: {
    priority: { input_usd_per_million: '4', output_usd_per_million: '16' },
    flex: { input_usd_per_million: '1', output_usd_per_million: '4' },
    'inference_geo=us': { input_usd_per_million: '2.2', output_usd_per_million: '8.8' },
    'latency=optimized': { input_usd_per_million: '3', output_usd_per_million: '10' },
  },
}
