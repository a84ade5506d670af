/** Each preset from request to wire to price: bound as a config would, over a real socket, without a gateway. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type JsonObject, Secret } from 'model-gateway/plugin'
import type { Egress } from 'model-gateway/provider'
import {
  collectEvents,
  type JournalCall,
  json,
  providerCall,
  setUpProvider,
  sse,
  startUpstream,
  streamedUsage,
  type Upstream,
} from 'model-gateway/testing'
import { readChatReply, readEmbeddingsReply } from 'model-gateway/wire'
import { createEgress } from '../../../kernel/egress/egress.ts'
import { responses, chat as sellers } from '../../../kernel/wire/usage-dialects.fixture.ts'
import { rowsIn } from '../../../plugins/pricing-catalog/_shared/sheet.ts'
import { buildCatalog } from '../../../plugins/pricing-catalog/catalog.ts'
import { resolvePrice } from '../../../plugins/pricing-catalog/resolve.ts'
import { bundledSnapshot } from '../../../plugins/pricing-catalog/snapshot.ts'
import plugin from '../../../providers/generic-compat/index.ts'
import { type Preset, presets } from '../../../providers/generic-compat/presets.ts'

const catalog = buildCatalog(bundledSnapshot)
/** A Sunday, when no vendor charges peak prices. */
const sunday = new Date(Date.now() + ((7 - new Date().getUTCDay()) % 7) * 86_400_000)

/** Usage as the seller writes it; the fixture has the pages. */
const usageOf = (seller: string) =>
  [...sellers, ...responses].find((row) => row.seller.startsWith(seller))?.reply as JsonObject
const cached = usageOf('Fireworks')
const plain = { usage: { prompt_tokens: 60, completion_tokens: 5, total_tokens: 65 } }
const responded = { usage: { input_tokens: 60, output_tokens: 5, total_tokens: 65 } }
const embedded = { usage: { total_tokens: 60 } }

/** What a vendor's page says, in words of this test: the presets are not asked. */
interface Facts {
  readonly url: string
  /** Members with which it refuses a call: `store`, which only OpenAI has, aside. */
  readonly refuses?: readonly string[]
  readonly limit?: 'max_completion_tokens' | 'max_tokens' | 'max_output_tokens'
  readonly developer?: true
  /** Refuses `stream_options`, and tells the usage in the last chunk. */
  readonly unasked?: true
  readonly reply: JsonObject
  /** In USD, where the reply states it. */
  readonly cost?: number
}

const newer = { limit: 'max_completion_tokens' } as const
const facts: Readonly<Record<string, Facts>> = {
  openai: {
    url: 'https://api.openai.com/v1/responses',
    limit: 'max_output_tokens',
    developer: true,
    reply: responded,
  },
  openrouter: {
    url: 'https://openrouter.ai/api/v1/chat/completions',
    ...newer,
    reply: usageOf('OpenRouter'),
    cost: 0.00014,
  },
  groq: {
    url: 'https://api.groq.com/openai/v1/chat/completions',
    ...newer,
    refuses: [
      ...['logprobs', 'logit_bias', 'prompt_cache_key', 'verbosity'],
      ...['reasoning_content', 'refusal', 'annotations'],
    ],
    reply: usageOf('Groq'),
  },
  mistral: {
    url: 'https://api.mistral.ai/v1/chat/completions',
    unasked: true,
    refuses: [
      'user',
      'seed',
      'logprobs',
      'logit_bias',
      'verbosity',
      'max_completion_tokens',
      ...['reasoning_content', 'reasoning', 'refusal', 'annotations'],
    ],
    reply: usageOf('Mistral, without'),
  },
  deepseek: { url: 'https://api.deepseek.com/chat/completions', reply: usageOf('DeepSeek') },
  xai: {
    url: 'https://api.x.ai/v1/chat/completions',
    ...newer,
    reply: usageOf('xAI'),
    cost: 0.000172125,
  },
  together: { url: 'https://api.together.ai/v1/chat/completions', reply: plain },
  fireworks: {
    url: 'https://api.fireworks.ai/inference/v1/chat/completions',
    refuses: ['reasoning'],
    reply: cached,
  },
  cerebras: { url: 'https://api.cerebras.ai/v1/chat/completions', ...newer, reply: plain },
  perplexity: {
    url: 'https://api.perplexity.ai/v1/responses',
    limit: 'max_output_tokens',
    reply: usageOf('Perplexity'),
    cost: 0.8417,
  },
  moonshot: {
    url: 'https://api.moonshot.ai/v1/chat/completions',
    ...newer,
    reply: usageOf('Moonshot'),
  },
  zai: { url: 'https://api.z.ai/api/paas/v4/chat/completions', reply: cached },
  nvidia: { url: 'https://integrate.api.nvidia.com/v1/chat/completions', reply: plain },
  huggingface: { url: 'https://router.huggingface.co/v1/chat/completions', reply: plain },
  cohere: {
    url: 'https://api.cohere.ai/compatibility/v1/chat/completions',
    developer: true,
    refuses: ['logit_bias', 'n'],
    reply: plain,
  },
  jina: {
    url: 'https://api.jina.ai/v1/embeddings',
    reply: { usage: { total_tokens: 60, prompt_tokens: 60 } },
  },
  voyage: { url: 'https://api.voyageai.com/v1/embeddings', reply: embedded },
  sambanova: { url: 'https://api.sambanova.ai/v1/chat/completions', reply: plain },
  deepinfra: {
    url: 'https://api.deepinfra.com/v1/openai/chat/completions',
    reply: { usage: { ...plain.usage, estimated_cost: 0.00001 } },
  },
  nebius: { url: 'https://api.tokenfactory.nebius.com/v1/chat/completions', reply: plain },
  novita: { url: 'https://api.novita.ai/openai/v1/chat/completions', reply: cached },
  hyperbolic: { url: 'https://api.hyperbolic.xyz/v1/chat/completions', reply: plain },
  dashscope: {
    url: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions',
    reply: usageOf('Alibaba'),
  },
  minimax: { url: 'https://api.minimax.io/v1/chat/completions', ...newer, reply: plain },
  baseten: { url: 'https://inference.baseten.co/v1/chat/completions', reply: plain },
  ai21: { url: 'https://api.ai21.com/studio/v1/chat/completions', unasked: true, reply: plain },
  vercel: { url: 'https://ai-gateway.vercel.sh/v1/chat/completions', ...newer, reply: plain },
  ollama: { url: 'http://127.0.0.1:11434/v1/chat/completions', reply: plain },
  vllm: { url: 'http://127.0.0.1:8000/v1/chat/completions', reply: usageOf('vLLM') },
  lmstudio: { url: 'http://127.0.0.1:1234/v1/chat/completions', reply: plain },
  sglang: { url: 'http://127.0.0.1:30000/v1/chat/completions', reply: usageOf('vLLM') },
  llama_cpp: { url: 'http://127.0.0.1:8080/v1/chat/completions', reply: usageOf('vLLM') },
}

let upstream: Upstream
const urls: string[] = []
/** Leads calls of a vendor to the stand-in, with their paths. */
const real = createEgress(undefined)
const egress: Egress = {
  ...real,
  send(call, url, request) {
    urls.push(url)
    return real.send(call, new URL(new URL(url).pathname, upstream.url).href, request)
  },
}
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.stop())

async function bind(preset: Preset, config: JsonObject = {}) {
  const key = preset.auth === 'bearer' ? { api_key: new Secret('k-4711') } : {}
  const bench = await setUpProvider({
    ...{ plugin, type: preset.type, egress, config: { ...key, ...config } },
  })
  return bench.bind({ upstreamModel: preset.smallModel })
}

const asked: JsonObject = {
  model: 'asked',
  messages: [
    { role: 'developer', content: 'Be brief.' },
    { role: 'user', content: 'Where do rivers run?' },
    {
      ...{ role: 'assistant', content: 'Down.', refusal: null, annotations: [] },
      ...{ reasoning: 'Hm.', reasoning_content: 'Hm.' },
    },
    { role: 'user', content: 'And then?' },
  ],
  max_completion_tokens: 50,
  ...{
    store: true,
    user: 'ada',
    seed: 7,
    n: 1,
    logprobs: false,
    logit_bias: {},
    verbosity: 'low',
    prompt_cache_key: 'k',
  },
}
const choice = { index: 0, finish_reason: 'stop' }
const words = { role: 'assistant', content: 'To the sea.' }
const meta = { id: 'r-1', created: 1_764_000_000, model: 'm' }

function expectSent({ headers, body }: JournalCall, preset: Preset, fact: Facts) {
  const key = preset.auth === 'bearer' ? 'Bearer k-4711' : undefined
  expect(headers.authorization).toBe(key as string)
  const members = body as JsonObject
  expect(members.model).toBe(preset.smallModel)
  const said = JSON.stringify(members)
  for (const name of fact.refuses ?? []) expect(said).not.toContain(`"${name}":`)
  expect(said.includes('"developer"')).toBe(fact.developer === true)
  if (preset.type !== 'openai') expect(members.store ?? false).toBe(false)
  const { limit = 'max_tokens' } = fact
  const limits = ['max_completion_tokens', 'max_tokens', 'max_output_tokens']
  expect(limits.filter((name) => name in members)).toEqual([limit])
  expect(members[limit]).toBe(50)
}

/** The price in USD × 10⁻¹² by the numbers of the list; undefined where there is no list. */
function listed({ pricing, smallModel }: Preset, usage: JsonObject): bigint | undefined {
  if (pricing === undefined) return undefined
  const row = rowsIn(bundledSnapshot[pricing] ?? {}, smallModel).find(
    ({ from = '', until = '9' }) => from <= sunday.toISOString() && sunday.toISOString() < until,
  )
  const count = (name: string) => Number(usage[name] ?? 0)
  const { cached_tokens: inDetails } = (usage.prompt_tokens_details ?? {}) as JsonObject
  const read = Number(inDetails ?? 0) + count('prompt_cache_hit_tokens') + count('cached_tokens')
  const written = count('completion_tokens') + count('output_tokens')
  const prompt = count('prompt_tokens') + count('input_tokens') || count('total_tokens')
  const pico = (tokens: number, price = 'NaN') =>
    tokens === 0 ? 0n : BigInt(Math.round(tokens * Number(price) * 1e6))
  return pico(prompt - read, row?.input) + pico(read, row?.cache_read) + pico(written, row?.output)
}

test('every preset has its facts here, and its own name', () => {
  expect(Object.keys(facts)).toEqual(presets.map(({ type }) => type))
  expect(presets.length).toBeGreaterThan(25)
})

test.each(presets.map((preset) => [preset.type, preset] as const))(
  '%s: from the request to the wire to the price',
  async (type, preset) => {
    const fact = facts[type] as Facts
    const bound = await bind(preset)
    const plainRoute = await setUpProvider({
      ...{ plugin, type: 'generic_compat', egress, config: { base_url: upstream.url } },
    })
    const written = Object.keys(plainRoute.bind({ upstreamModel: preset.smallModel }).execute)
    expect(Object.keys(bound.execute)).toEqual(
      written.filter((api) => (preset.apis as readonly string[]).includes(api)),
    )

    const [dialect] = preset.apis
    const embeds = dialect === 'embeddings'
    const readReply = embeds ? readEmbeddingsReply : readChatReply
    upstream.clear()
    urls.length = 0
    upstream.always(
      json({
        ...meta,
        ...(embeds
          ? { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] }
          : fact.limit === 'max_output_tokens'
            ? {
                ...{ object: 'response', status: 'completed' },
                output: [
                  {
                    ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
                    content: [{ type: 'output_text', text: words.content, annotations: [] }],
                  },
                ],
              }
            : { object: 'chat.completion', choices: [{ ...choice, message: words }] }),
        ...fact.reply,
        ...(fact.reply.output !== undefined && {
          output: [
            { type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [] },
          ],
        }),
      }),
    )
    const call = embeds
      ? providerCall({ model: 'asked', input: ['river'] }, { id: 'embeddings', readReply })
      : providerCall(asked)
    const reply = await bound.execute[dialect as string]?.(call)
    if (reply?.kind !== 'buffered') throw new Error('no buffered reply')
    expect(urls).toEqual([fact.url])
    const [sent] = upstream.journal.calls
    if (embeds) expect(sent?.headers.authorization).toBe('Bearer k-4711')
    else expectSent(sent as JournalCall, preset, fact)

    const expected =
      fact.cost === undefined
        ? listed(preset, fact.reply.usage as JsonObject)
        : BigInt(Math.round(fact.cost * 1e12))
    const priceOf = (body: JsonObject) => {
      const { usage } = readReply(body)
      if (usage === undefined) throw new Error('nothing is metered')
      const query = { identity: bound.pricing, configVersion: '', billingModifiers: [], at: sunday }
      return resolvePrice(catalog, { ...query, usage })
    }
    const price =
      expected === undefined
        ? ({ status: 'unpriced', reason: 'provider_pricing_source_missing' } as const)
        : ({ status: 'priced', costPicoUsd: expected } as const)
    expect(priceOf(reply.body)).toMatchObject(price)
    if (dialect !== 'chat_completions' || fact.limit === 'max_output_tokens') return

    // Streamed: the usage is asked for unless it comes unasked, in a chunk of its own or with the end.
    const chunk = { ...meta, object: 'chat.completion.chunk' }
    const end = {
      ...chunk,
      choices: [{ ...choice, delta: words }],
      ...(fact.unasked && fact.reply),
    }
    const counters = { ...chunk, choices: [], ...fact.reply }
    const chunks = fact.unasked ? [end] : [end, counters]
    upstream.always(
      sse([...chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`), 'data: [DONE]\n\n']),
    )
    const stream_options = { include_usage: true }
    const streaming = providerCall({ ...asked, stream: true, stream_options })
    const events = await collectEvents(await (bound.execute.chat_completions?.(streaming) as never))
    const streamed = upstream.journal.calls.at(-1) as JournalCall
    expectSent(streamed, preset, fact)
    expect((streamed.body as JsonObject).stream_options).toEqual(
      fact.unasked ? undefined : stream_options,
    )
    const { service_tier } = fact.reply
    expect(
      priceOf({
        choices: [],
        usage: streamedUsage(events),
        ...(service_tier && { service_tier }),
      } as JsonObject),
    ).toMatchObject(price)
  },
)
