import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'

/** Any JSON under all names that are read, with counts at the edge of what numbers can say. */
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: fc.nat(100) },
  fc.constantFrom<JsonValue>(-1, 0.5, 2 ** 53 - 1, 2 ** 60, 1e308, null, '7', '', [], {}, true),
) as fc.Arbitrary<JsonValue>
const objectOf = (names: readonly string[], inner: fc.Arbitrary<JsonValue> = value) =>
  fc.dictionary(fc.constantFrom(...names), inner, {
    maxKeys: names.length,
  }) as fc.Arbitrary<JsonObject>
const kinds = ['audio_tokens', 'image_tokens', 'video_tokens', 'text_tokens']
const lifetimes = objectOf(['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'])
const details = fc
  .tuple(
    objectOf([
      ...kinds,
      ...['cached_tokens', 'cache_write_tokens', 'cache_write_1h_tokens', 'reasoning_tokens'],
      'cache_creation_input_tokens',
    ]),
    fc.record(
      { cached_tokens_details: objectOf(kinds), cache_creation: lifetimes },
      { requiredKeys: [] },
    ),
  )
  .map(([counts, nested]) => ({ ...counts, ...nested }) as JsonObject)
const tools = objectOf(['web_search_requests', 'code_interpreter_calls', '__proto__', 'input'])
export const anyUsage: fc.Arbitrary<JsonObject> = fc
  .tuple(
    objectOf([
      ...['prompt_tokens', 'completion_tokens', 'input_tokens', 'output_tokens', 'total_tokens'],
      ...['cached_tokens', 'prompt_cache_hit_tokens', 'prompt_cache_miss_tokens', 'cost'],
      ...['cache_creation_input_tokens', 'cache_read_input_tokens', 'num_search_queries'],
      ...['num_sources_used', 'num_server_side_tools_used', 'is_byok', 'cost_in_usd_ticks'],
      ...['service_tier', 'speed', 'inference_geo', 'search_context_size', 'citation_tokens'],
    ]),
    fc.record(
      {
        prompt_tokens_details: details,
        completion_tokens_details: details,
        input_tokens_details: details,
        output_tokens_details: details,
        server_tool_use: tools,
        server_side_tool_usage_details: tools,
        cache_creation: lifetimes,
        iterations: fc.array(objectOf(['type', 'input_tokens', 'output_tokens']), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([counts, nested]) => ({ ...counts, ...nested }) as JsonObject)
