import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type OpenAI from 'openai'
import type {
  ImageGenerateParamsNonStreaming,
  ImageGenerateParamsStreaming,
} from 'openai/resources/images'
import { json, type Reply, sse } from '../../harness/upstream.ts'

/** One call of an API, from its client to its ledger row. */
export interface ApiCase {
  readonly name: string
  /** As ledger and log call it. */
  readonly operation: string
  /** Of the gateway, and where the upstream is to be called. */
  readonly path: string
  readonly upstreamPath?: string
  /** Without the model. */
  readonly body: JsonObject
  readonly reply: Reply
  /** What the upstream says that a guard denies, where it can say something. */
  readonly saysForbidden?: Reply
  /** How the guard finds a word in the request. */
  readonly asksForbidden?: JsonObject
  /** As the official client does it; gives what the client understood. */
  ask(client: Asking, body: object): Promise<unknown>
  readonly understood: unknown
  /** Unit, quantity and USD × 10⁻¹² for each, as the ledger has them. */
  readonly items: readonly (readonly [unit: string, quantity: number, picoUsd: string])[]
  readonly tier?: string
}

export interface Asking {
  readonly openai: OpenAI
  readonly headers: Record<string, string>
  /** For APIs that the official client of OpenAI does not have. */
  post(path: string, body: object): Promise<JsonValue>
}

/** The price of each unit in the tests: as many USD as make one pico-USD a round number. */
export const prices = {
  input_usd_per_million: '2',
  output_usd_per_million: '8',
  input_image_usd_per_million: '10',
  output_image_usd_per_million: '40',
  search_unit_usd_per_thousand: '2',
}

const frames = (...events: readonly JsonObject[]) =>
  sse(
    events.map((event) => {
      const named = typeof event.type === 'string' ? `event: ${event.type}\n` : ''
      return `${named}data: ${JSON.stringify(event)}\n\n`
    }),
  )

const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }
const completion = (text: string, more: JsonObject = {}) => ({
  id: 'cmpl-uqkvlQyYK7bGYrRHQ0eXlWi7',
  object: 'text_completion',
  created: 1589478378,
  model: 'u',
  choices: [{ text, index: 0, logprobs: null, finish_reason: 'stop' }],
  ...more,
})
const streamedCompletion = (text: string): Reply => {
  const piece = (said: string, finish_reason: string | null) =>
    completion('', { choices: [{ text: said, index: 0, logprobs: null, finish_reason }] })
  return (x) =>
    sse([
      ...[piece(text.slice(0, 4), null), piece(text.slice(4), null), piece('', 'stop')].map(
        (chunk) => `data: ${JSON.stringify(chunk)}\n\n`,
      ),
      `data: ${JSON.stringify({ ...completion(''), choices: [], usage })}\n\n`,
      'data: [DONE]\n\n',
    ])(x)
}

const picture = Buffer.alloc(300_000, 'river').toString('base64')
const pictureUsage = {
  input_tokens: 50,
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
  output_tokens: 4160,
  total_tokens: 4210,
}
const pictureEvent = (type: string, more: JsonObject) => ({
  type: `image_generation.${type}`,
  b64_json: picture,
  created_at: 1620000000,
  size: '1024x1024',
  quality: 'high',
  background: 'opaque',
  output_format: 'png',
  ...more,
})
const byTokens = [
  ['input_image', 40, '10000000'],
  ['input', 10, '2000000'],
  ['output_image', 4160, '40000000'],
] as const

const results = [{ index: 1, relevance_score: 0.98 }]
const documents = ['Carson City', { text: 'Washington, D.C.' }]
const reranking = { query: 'the capital', documents, top_n: 1 }
const moderated = {
  id: 'modr-970d409ef3bef3b70c73d8232df86e7d',
  model: 'u',
  results: [{ flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } }],
}

/** The vendors' documented replies: see the tests of each plugin. */
export const cases: readonly ApiCase[] = [
  {
    name: 'completions',
    operation: 'completions',
    path: '/v1/completions',
    body: { prompt: 'Rivers run', suffix: '.', max_tokens: 7 },
    asksForbidden: { prompt: ['Rivers', 'FORBIDDEN'] },
    reply: json(completion('to the sea.', { usage })),
    saysForbidden: json(completion('FORBIDDEN', { usage })),
    ask: async ({ openai, headers }, body) =>
      (
        await openai.completions.create(body as OpenAI.CompletionCreateParamsNonStreaming, {
          headers,
        })
      ).choices[0]?.text,
    understood: 'to the sea.',
    items: [
      ['input', 5, '2000000'],
      ['output', 7, '8000000'],
    ],
  },
  {
    name: 'streamed completions',
    operation: 'completions',
    path: '/v1/completions',
    body: { prompt: [[464, 7850]], stream: true, stream_options: { include_usage: true } },
    asksForbidden: { prompt: 'FORBIDDEN' },
    reply: streamedCompletion('to the sea.'),
    saysForbidden: streamedCompletion('FORBIDDEN'),
    async ask({ openai, headers }, body) {
      let text = ''
      const stream = await openai.completions.create(
        body as OpenAI.CompletionCreateParamsStreaming,
        { headers },
      )
      for await (const { choices } of stream) text += choices[0]?.text ?? ''
      return text
    },
    understood: 'to the sea.',
    items: [
      ['input', 5, '2000000'],
      ['output', 7, '8000000'],
    ],
  },
  {
    name: 'moderations, which are free',
    operation: 'moderations',
    path: '/v1/moderations',
    body: {
      input: [
        { type: 'text', text: 'a river' },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      ],
    },
    asksForbidden: { input: [{ type: 'text', text: 'FORBIDDEN' }] },
    reply: json(moderated),
    ask: async ({ openai, headers }, body) =>
      (await openai.moderations.create(body as OpenAI.ModerationCreateParams, { headers }))
        .results[0]?.flagged,
    understood: true,
    items: [],
  },
  {
    name: 'rerank of Cohere',
    operation: 'rerank',
    path: '/v2/rerank',
    upstreamPath: '/v1/rerank',
    body: reranking,
    asksForbidden: { documents: ['a', { text: 'FORBIDDEN' }] },
    reply: json({ id: 'r1', results, meta: { billed_units: { search_units: 1 } } }),
    ask: ({ post }, body) => post('/v2/rerank', body),
    understood: { results },
    items: [['search_unit', 1, '2000000000']],
  },
  {
    name: 'rerank of Jina',
    operation: 'rerank',
    path: '/v1/rerank',
    body: reranking,
    asksForbidden: { query: 'FORBIDDEN' },
    reply: json({ model: 'u', results, usage: { total_tokens: 15 } }),
    ask: ({ post }, body) => post('/v1/rerank', body),
    understood: { results },
    items: [['input', 15, '2000000']],
  },
  {
    name: 'pictures',
    operation: 'images',
    path: '/v1/images/generations',
    body: { prompt: 'a river', quality: 'high', size: '1024x1024' },
    asksForbidden: { prompt: 'FORBIDDEN' },
    reply: json({ created: 1713833628, data: [{ b64_json: picture }], usage: pictureUsage }),
    saysForbidden: json({ created: 1, data: [{ url: 'https://x', revised_prompt: 'FORBIDDEN' }] }),
    ask: async ({ openai, headers }, body) =>
      (await openai.images.generate(body as ImageGenerateParamsNonStreaming, { headers })).data?.[0]
        ?.b64_json,
    understood: picture,
    items: byTokens,
    tier: 'quality=high+size=1024x1024',
  },
  {
    name: 'streamed pictures',
    operation: 'images',
    path: '/v1/images/generations',
    body: { prompt: 'a river', stream: true, partial_images: 1 },
    asksForbidden: { prompt: 'FORBIDDEN' },
    reply: frames(
      pictureEvent('partial_image', { partial_image_index: 0 }),
      pictureEvent('completed', { usage: pictureUsage }),
    ),
    async ask({ openai, headers }, body) {
      const kinds: string[] = []
      const stream = await openai.images.generate(body as ImageGenerateParamsStreaming, { headers })
      for await (const { type, b64_json } of stream) kinds.push(`${type} ${b64_json.length}`)
      return kinds
    },
    understood: [
      `image_generation.partial_image ${picture.length}`,
      `image_generation.completed ${picture.length}`,
    ],
    items: byTokens,
    tier: 'quality=high+size=1024x1024',
  },
]
