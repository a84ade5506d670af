import { expect, test } from 'bun:test'
import { pricesOf, withSizes } from './litellm.ts'

const chat = (more: Record<string, unknown>) => pricesOf({ mode: 'chat', ...more })

test('prices per token become prices per million, without rounding', () => {
  expect(
    chat({
      input_cost_per_token: '1.25e-06',
      output_cost_per_token: '1e-05',
      cache_read_input_token_cost: '1.25e-07',
      cache_creation_input_token_cost_above_1hr: '0.0000025',
      input_cost_per_audio_token: '4e-05',
      output_vector_size: '3072',
      max_tokens: '8192',
    }),
  ).toEqual({
    usual: {
      input: '1.25',
      output: '10',
      cache_read: '0.125',
      cache_write_1h: '2.5',
      input_audio: '40',
    },
    tiers: {},
  })
})

test('pieces are priced by the thousand', () => {
  const price = (mode: string, key: string) => pricesOf({ mode, [key]: '0.002' })?.usual
  expect(price('rerank', 'input_cost_per_query')).toEqual({ search_unit: '2' })
  expect(price('ocr', 'ocr_cost_per_page')).toEqual({ page: '2' })
  expect(price('audio_transcription', 'input_cost_per_second')).toEqual({ audio_second: '2' })
  expect(price('audio_speech', 'input_cost_per_character')).toEqual({ character: '2' })
  expect(price('video_generation', 'input_cost_per_second')).toBeUndefined()
  expect(price('image_generation', 'output_cost_per_image')).toEqual({ image: '2' })
  expect(price('image_generation', 'input_cost_per_image')).toEqual({ image: '2' })
  expect(price('chat', 'output_cost_per_image')).toEqual({})
})

test('lengths and tiers, and both', () => {
  const read = chat({
    input_cost_per_token: '2e-06',
    input_cost_per_token_above_272k_tokens: '4e-06',
    input_cost_per_token_above_272k_tokens_batches: '2e-06',
    input_cost_per_token_batches: '1e-06',
    input_cost_per_token_flex: '1e-06',
    output_cost_per_token_above_128k_tokens: '9e-06',
  })
  expect(read).toEqual({
    usual: { input: '2', long: [{ above: 272_000, prices: { input: '4' } }] },
    // Long-prompt prices of flex are unknown, and so are prices above 128k.
    tiers: { batch: { input: '1', long: [{ above: 272_000, prices: { input: '2' } }] } },
  })
})

test('a search has a price if it is the same for every size', () => {
  const sizes = (low: string, high: string) => ({
    search_context_cost_per_query: { search_context_size_low: low, search_context_size_high: high },
  })
  expect(chat(sizes('0.01', '0.01'))?.usual).toEqual({ web_search: '10' })
  expect(chat(sizes('0.006', '0.014'))?.usual).toEqual({})
  const google = { ...sizes('0.035', '0.035'), google_maps_grounding_cost_per_query: '0.025' }
  expect(chat(google)?.usual).toEqual({ grounding: '35' })
  expect(chat({ ...google, web_search_billing_unit: 'per_query' })?.usual).toEqual({
    web_search: '35',
  })
})

test('prices that vary are skipped', () => {
  const both = { input_cost_per_token: '1e-06', output_cost_per_token: '1e-06' }
  expect(chat({ ...both, output_cost_per_reasoning_token: '3e-06' })?.usual).toEqual({ input: '1' })
  expect(chat({ output_cost_per_token: '1e-06' })?.usual).toEqual({})
  const byHour = { input_cost_per_token: '1e-06', off_peak_pricing: {} }
  expect(chat(byHour)?.usual).toEqual({})
  const free = { input_cost_per_token: '1e-06', output_cost_per_token: '0.0' }
  expect(chat(free)?.usual).toEqual({ input: '1' })
})

test('images that are sold by quality and size have tiers for them', () => {
  const pixel = (price: string) => ({ mode: 'image_generation', input_cost_per_pixel: price })
  const sized = withSizes({
    'azure/standard/1024-x-1024/dall-e-3': pixel('4.19617e-08'),
    'azure/hd/1024-x-1792/dall-e-3': pixel('7.19343e-08'),
    'low/1024-x-1024/by-tokens': pixel('1e-08'),
    'by-tokens': { mode: 'image_generation', output_cost_per_image_token: '4e-05' },
    'azure/standard/256-x-256/free': pixel('0.0'),
  })
  expect(sized.map(([key, prices]) => [key, prices])).toEqual([
    [
      'azure/dall-e-3',
      {
        usual: { image: '44' },
        tiers: { 'size=1024x1024': { image: '44' }, 'quality=hd+size=1024x1792': { image: '132' } },
      },
    ],
  ])
})
