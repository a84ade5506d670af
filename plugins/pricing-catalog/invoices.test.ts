import { expect, test } from 'bun:test'
import type { Usage } from 'model-gateway/wire'
import { buildCatalog } from './catalog.ts'
import { resolvePrice } from './resolve.ts'
import { bundledSnapshot } from './snapshot.ts'

/**
 * Replies and what the vendors' public price pages make of them, as they were on 2026-11-27. A sum is
 * written in millionths of a USD: tokens × USD per million of them, and for searches and the like pieces ×
 * USD per million of them, which is a thousand times the price per thousand.
 */
interface Row {
  readonly of: string
  readonly page: string
  readonly provider: string
  readonly model: string
  readonly at?: string
  readonly used: Partial<Usage>
  readonly sum: string
  readonly picoUsd: bigint
}

const openai = 'https://developers.openai.com/api/docs'
const claude = 'https://platform.claude.com/docs/en'
const gemini = 'https://ai.google.dev/gemini-api/docs/pricing'

const rows: readonly Row[] = [
  {
    of: 'cached input',
    page: `${openai}/models/gpt-6-sol`,
    provider: 'openai',
    model: 'gpt-6-sol',
    used: { uncachedInput: 12_000, cacheRead: 180_000, output: 900, tier: 'default' },
    sum: '12,000 × 2 + 180,000 × 0.2 + 900 × 10 = 69,000',
    picoUsd: 69_000_000_000n,
  },
  {
    of: 'a cache write',
    page: `${openai}/models/gpt-6-sol`,
    provider: 'openai',
    model: 'gpt-6-sol',
    used: { uncachedInput: 1_000, cacheWrite: 30_000, output: 10 },
    sum: '1,000 × 2 + 30,000 × 2.5 + 10 × 10 = 77,100',
    picoUsd: 77_100_000_000n,
  },
  {
    of: 'the longest prompt at the short price',
    page: `${openai}/models/gpt-6-sol`,
    provider: 'openai',
    model: 'gpt-6-sol',
    used: { uncachedInput: 272_000, output: 1 },
    sum: '272,000 × 2 + 1 × 10 = 544,010',
    picoUsd: 544_010_000_000n,
  },
  {
    of: 'a long prompt: twice for input and caches, 1.5 times for output',
    page: `${openai}/models/gpt-6-sol`,
    provider: 'openai',
    model: 'gpt-6-sol',
    used: { uncachedInput: 200_001, cacheRead: 100_000, output: 2_000 },
    sum: '200,001 × 4 + 100,000 × 0.4 + 2,000 × 15 = 870,004',
    picoUsd: 870_004_000_000n,
  },
  {
    of: 'flex with a long prompt: half of that',
    page: `${openai}/pricing`,
    provider: 'openai',
    model: 'gpt-6-sol',
    used: { uncachedInput: 300_000, output: 1_000, tier: 'flex' },
    sum: '300,000 × 2 + 1,000 × 7.5 = 607,500',
    picoUsd: 607_500_000_000n,
  },
  {
    of: 'priority',
    page: 'https://openai.com/api-priority-processing/',
    provider: 'openai',
    model: 'gpt-5.5',
    used: { uncachedInput: 4_000, cacheRead: 6_000, output: 800, tier: 'priority' },
    sum: '4,000 × 12.5 + 6,000 × 1.25 + 800 × 75 = 117,500',
    picoUsd: 117_500_000_000n,
  },
  {
    of: 'priority, with fractions of a millionth',
    page: 'https://openai.com/api-priority-processing/',
    provider: 'openai',
    model: 'gpt-5-mini',
    used: { uncachedInput: 10_001, cacheRead: 20_000, output: 333, tier: 'priority' },
    sum: '10,001 × 0.45 + 20,000 × 0.045 + 333 × 3.6 = 6,599.25',
    picoUsd: 6_599_250_000n,
  },
  {
    of: 'batch',
    page: `${openai}/pricing`,
    provider: 'openai',
    model: 'gpt-5',
    used: { uncachedInput: 7_777, cacheRead: 1_024, output: 55, tier: 'batch' },
    sum: '7,777 × 0.625 + 1,024 × 0.0625 + 55 × 5 = 5,199.625',
    picoUsd: 5_199_625_000n,
  },
  {
    of: 'searches of the web and of files: 10 and 2.50 USD for a thousand',
    page: `${openai}/pricing`,
    provider: 'openai',
    model: 'gpt-5',
    used: { uncachedInput: 5_000, output: 700, uses: { web_search: 2, file_search: 1 } },
    sum: '5,000 × 1.25 + 700 × 10 + 2 × 10,000 + 1 × 2,500 = 35,750',
    picoUsd: 35_750_000_000n,
  },
  {
    of: 'audio and images, cached and not, in addition to text',
    page: `${openai}/models/gpt-realtime-1.5`,
    provider: 'openai',
    model: 'gpt-realtime-1.5',
    used: {
      uncachedInput: 700,
      cacheRead: 650,
      output: 320,
      parts: { input_audio: 400, input_image: 200, cached_audio: 600, output_audio: 300 },
    },
    sum: '100 × 4 + 400 × 32 + 200 × 5 + 50 × 0.4 + 600 × 0.4 + 20 × 16 + 300 × 64 = 33,980',
    picoUsd: 33_980_000_000n,
  },
  {
    of: 'a picture made from a picture',
    page: `${openai}/models/gpt-image-1`,
    provider: 'openai',
    model: 'gpt-image-1',
    used: {
      uncachedInput: 1_050,
      output: 4_160,
      parts: { input_image: 1_000, output_image: 4_160 },
    },
    sum: '50 × 5 + 1,000 × 10 + 4,160 × 40 = 176,650',
    picoUsd: 176_650_000_000n,
  },
  {
    of: 'an embedding',
    page: `${openai}/models/text-embedding-3-small`,
    provider: 'openai',
    model: 'text-embedding-3-small',
    used: { uncachedInput: 8_191 },
    sum: '8,191 × 0.02 = 163.82',
    picoUsd: 163_820_000n,
  },
  {
    of: 'caches of five minutes and of an hour',
    page: `${claude}/about-claude/pricing`,
    provider: 'anthropic',
    model: 'claude-opus-4-5',
    used: {
      uncachedInput: 2_000,
      cacheRead: 50_000,
      cacheWrite: 14_000,
      cacheWriteHour: 4_000,
      output: 1_500,
    },
    sum: '2,000 × 5 + 50,000 × 0.5 + 10,000 × 6.25 + 4,000 × 10 + 1,500 × 25 = 175,000',
    picoUsd: 175_000_000_000n,
  },
  {
    of: 'batch: half, for caches too',
    page: `${claude}/about-claude/pricing`,
    provider: 'anthropic',
    model: 'claude-opus-4-5-20251101',
    used: {
      uncachedInput: 2_000,
      cacheRead: 50_000,
      cacheWrite: 4_000,
      cacheWriteHour: 4_000,
      output: 1_500,
      tier: 'batch',
    },
    sum: '2,000 × 2.5 + 50,000 × 0.25 + 4,000 × 5 + 1,500 × 12.5 = 56,250',
    picoUsd: 56_250_000_000n,
  },
  {
    of: 'searches at 10 USD for a thousand, and pages that are fetched for nothing',
    page: `${claude}/about-claude/pricing`,
    provider: 'anthropic',
    model: 'claude-sonnet-5-5',
    used: { uncachedInput: 8_000, output: 1_000, uses: { web_search: 3, web_fetch: 2 } },
    sum: '8,000 × 2 + 1,000 × 10 + 3 × 10,000 = 56,000',
    picoUsd: 56_000_000_000n,
  },
  {
    of: 'one token more than the short price is for',
    page: `${claude}/about-claude/pricing`,
    provider: 'anthropic',
    model: 'claude-haiku-5-5',
    used: { uncachedInput: 100_001, output: 200 },
    sum: '100,001 × 0.5 + 200 × 2.5 = 50,500.5',
    picoUsd: 50_500_500_000n,
  },
  {
    of: 'fast mode',
    page: `${claude}/build-with-claude/fast-mode`,
    provider: 'anthropic',
    model: 'claude-opus-5-5',
    used: { uncachedInput: 3_000, cacheRead: 10_000, output: 500, tier: 'fast' },
    sum: '3,000 × 8 + 10,000 × 0.4 + 500 × 40 = 48,000',
    picoUsd: 48_000_000_000n,
  },
  {
    of: 'inference in the United States: 10 % more for tokens, not for searches',
    page: `${claude}/manage-claude/data-residency`,
    provider: 'anthropic',
    model: 'claude-sonnet-4-6',
    used: {
      uncachedInput: 1_000,
      cacheWriteHour: 2_000,
      cacheWrite: 2_000,
      output: 100,
      uses: { web_search: 2 },
      tier: 'default+inference_geo=us',
    },
    sum: '1,000 × 3.3 + 2,000 × 6.6 + 100 × 16.5 + 2 × 10,000 = 38,150',
    picoUsd: 38_150_000_000n,
  },
  {
    of: 'fast mode in the United States alone: 1.1 times of that, and searches as ever',
    page: `${claude}/about-claude/pricing`,
    provider: 'anthropic',
    model: 'claude-opus-5-5',
    used: {
      uncachedInput: 3_000,
      output: 500,
      uses: { web_search: 1 },
      tier: 'default+speed=fast+inference_geo=us',
    },
    sum: '3,000 × 8.8 + 500 × 44 + 1 × 10,000 = 58,400',
    picoUsd: 58_400_000_000n,
  },
  {
    of: 'Amazon Bedrock in a geography: 10 % more',
    page: 'https://aws.amazon.com/bedrock/pricing/',
    provider: 'amazon-bedrock',
    model: 'us.anthropic.claude-opus-4-7',
    used: { uncachedInput: 1_000, cacheWrite: 2_000, cacheWriteHour: 2_000, output: 100 },
    sum: '1,000 × 5.5 + 2,000 × 11 + 100 × 27.5 = 30,250',
    picoUsd: 30_250_000_000n,
  },
  {
    of: 'sound, and a call that is grounded by two searches: 35 USD for a thousand calls',
    page: gemini,
    provider: 'google-vertex',
    model: 'gemini-2.5-flash',
    used: {
      uncachedInput: 4_000,
      cacheRead: 2_000,
      output: 400,
      parts: { input_audio: 3_000 },
      uses: { grounding: 1, web_search: 2 },
    },
    sum: '1,000 × 0.3 + 3,000 × 1 + 2,000 × 0.03 + 400 × 2.5 + 1 × 35,000 = 39,360',
    picoUsd: 39_360_000_000n,
  },
  {
    of: 'two searches at 14 USD for a thousand, with priority: 1.8 times for tokens',
    page: gemini,
    provider: 'google-vertex',
    model: 'gemini-3.8-flash',
    used: {
      uncachedInput: 9_000,
      output: 1_200,
      uses: { grounding: 1, web_search: 2 },
      tier: 'priority',
    },
    sum: '9,000 × 1.35 + 1,200 × 6.75 + 2 × 14,000 = 48,250',
    picoUsd: 48_250_000_000n,
  },
  {
    of: 'a long prompt, most of it cached',
    page: gemini,
    provider: 'google-vertex',
    model: 'gemini-2.5-pro',
    used: { uncachedInput: 50_000, cacheRead: 200_000, output: 3_000 },
    sum: '50,000 × 2.5 + 200,000 × 0.25 + 3,000 × 15 = 220,000',
    picoUsd: 220_000_000_000n,
  },
  {
    of: 'Claude on Vertex AI by its dated name, cached for an hour',
    page: 'https://cloud.google.com/vertex-ai/generative-ai/pricing',
    provider: 'google-vertex-anthropic',
    model: 'claude-haiku-4-5@20251001',
    used: { uncachedInput: 10, cacheWrite: 5_000, cacheWriteHour: 5_000, output: 7 },
    sum: '10 × 1 + 5,000 × 2 + 7 × 5 = 10,045',
    picoUsd: 10_045_000_000n,
  },
  {
    of: 'a prompt that is long from 200,000 tokens on, and two searches at 5 USD for a thousand',
    page: 'https://docs.x.ai/docs/models/grok-4.6',
    provider: 'x-ai',
    model: 'grok-4.6',
    used: {
      uncachedInput: 150_000,
      cacheRead: 50_000,
      output: 1_000,
      uses: { web_search: 2 },
    },
    sum: '150,000 × 4 + 50,000 × 1 + 1,000 × 12 + 2 × 5,000 = 672,000',
    picoUsd: 672_000_000_000n,
  },
  {
    of: 'a weekday at noon in Beijing, which is not in the peak hours',
    page: 'https://api-docs.deepseek.com/quick_start/pricing',
    provider: 'deepseek',
    model: 'deepseek-flash',
    at: '2026-11-27T05:00:00Z',
    used: { uncachedInput: 3_000, cacheRead: 9_000, output: 400 },
    sum: '3,000 × 0.15 + 9,000 × 0.003 + 400 × 0.6 = 717',
    picoUsd: 717_000_000n,
  },
  {
    of: 'the same call two hours later, in the peak hours',
    page: 'https://api-docs.deepseek.com/quick_start/pricing',
    provider: 'deepseek',
    model: 'deepseek-flash',
    at: '2026-11-27T07:00:00Z',
    used: { uncachedInput: 3_000, cacheRead: 9_000, output: 400 },
    sum: '3,000 × 0.3 + 9,000 × 0.006 + 400 × 1.2 = 1,434',
    picoUsd: 1_434_000_000n,
  },
  {
    of: 'a reranking: 2 USD for a thousand searches',
    page: 'https://cohere.com/pricing',
    provider: 'cohere',
    model: 'rerank-v3.5',
    used: { uses: { search_unit: 3 } },
    sum: '3 × 2,000 = 6,000',
    picoUsd: 6_000_000_000n,
  },
]

const bundled = buildCatalog(bundledSnapshot)
const number = (text: string) => BigInt(Math.round(Number(text.replaceAll(',', '')) * 1e6))

test.each(rows)('$provider $model: $of', ({ provider, model, at, used, sum, picoUsd }) => {
  const { uncachedInput, cacheRead, cacheWrite, output } = used
  const usage: Usage = {
    ...{ uncachedInput, cacheRead, cacheWrite, output, reasoning: undefined },
    promptTokens: (uncachedInput ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0),
    totalTokens: undefined,
    ...used,
  }
  const price = resolvePrice(bundled, {
    identity: { pricingProviderId: provider, model },
    configVersion: 'v1',
    usage,
    billingModifiers: [],
    at: new Date(at ?? '2026-11-27T12:00:00Z'),
  })
  expect(price).toMatchObject({ status: 'priced', costPicoUsd: picoUsd })

  // The sum is what it says, so that a row can be checked by eye against its page.
  const [terms = '', total = ''] = sum.split(' = ')
  const added = terms.split(' + ').map((term) => {
    const [quantity = '', each = ''] = term.split(' × ')
    return (number(quantity) / 1_000_000n) * number(each)
  })
  expect(added.reduce((all, each) => all + each, 0n)).toBe(picoUsd)
  expect(number(total)).toBe(picoUsd)
})
