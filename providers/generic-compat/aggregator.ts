import {
  type ConfigPath,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Problem,
  type Static,
  Type,
} from 'model-gateway/plugin'

const strict = { additionalProperties: false }
const slugs = (description: string) => Type.Optional(Type.Array(Type.String(), { description }))
const seconds = Type.Optional(Type.Number({ description: 'Seconds' }))
const price = Type.Optional(Type.Number({ description: 'USD' }))

const LATENCIES = ['p50', 'p75', 'p90', 'p99'] as const
const PRICES = ['prompt', 'completion', 'request', 'image'] as const
const LISTS = ['only', 'ignore', 'order'] as const

/** `compatibility.aggregator`: which of OpenRouter's providers may serve the route. */
export const aggregatorSchema = Type.Object(
  {
    provider: Type.Object(
      {
        zdr: Type.Optional(
          Type.Boolean({ description: 'Use only endpoints without data retention' }),
        ),
        only: slugs('Allowed providers'),
        ignore: slugs('Excluded providers'),
        order: slugs('Provider order'),
        preferred_max_latency: Type.Optional(
          Type.Union(
            [
              Type.Number(),
              Type.Object({ p50: seconds, p75: seconds, p90: seconds, p99: seconds }, strict),
            ],
            { description: 'Preferred limit in seconds, or per percentile' },
          ),
        ),
        max_price: Type.Optional(
          Type.Object(
            { prompt: price, completion: price, request: price, image: price },
            {
              ...strict,
              description: 'Price limit in USD per million tokens, per request and per image',
            },
          ),
        ),
      },
      strict,
    ),
  },
  strict,
)
export type Aggregator = Static<typeof aggregatorSchema>

/** The `provider` member: the block unchanged, its slugs trimmed. */
export function aggregatorProvider(aggregator: Aggregator): JsonObject {
  const provider: JsonObject = { ...(aggregator.provider as JsonObject) }
  for (const name of LISTS) {
    const list = aggregator.provider[name]
    if (list !== undefined) provider[name] = list.map((slug) => slug.trim())
  }
  return provider
}

/** The contradictions that the schema cannot express. */
export function* checkAggregator(
  block: JsonValue | undefined,
  route: Readonly<JsonObject>,
  gatewayProvider: Readonly<JsonObject>,
): Iterable<Problem> {
  if (!isJsonObject(block)) return
  yield* checkPlace(['compatibility', 'aggregator'], gatewayProvider)
  if (isJsonObject(route.extra_body) && 'provider' in route.extra_body) {
    yield {
      path: ['extra_body', 'provider'],
      message: 'would override compatibility.aggregator',
      hint: 'remove extra_body.provider or compatibility.aggregator',
    }
  }
  const { provider } = block
  if (!isJsonObject(provider)) return
  const path = ['compatibility', 'aggregator', 'provider']
  if (Object.keys(provider).length === 0) {
    yield { path, message: 'is empty', hint: 'set at least one field, or remove the block' }
  }
  for (const list of LISTS) yield* checkSlugs(provider[list], [...path, list])
  yield* checkOverlap(provider, path)
  yield* checkLatency(provider.preferred_max_latency, [...path, 'preferred_max_latency'])
  yield* checkPrices(provider.max_price, [...path, 'max_price'])
}

function* checkPlace(path: ConfigPath, provider: Readonly<JsonObject>): Iterable<Problem> {
  if (typeof provider.base_url !== 'string') return
  const url = URL.parse(provider.base_url)
  if (url?.protocol === 'https:' && url.host === 'openrouter.ai') return
  yield {
    path,
    message: 'works only with a provider whose base_url is https://openrouter.ai/…',
    hint: 'remove the block, or use such a provider',
  }
}

function* checkSlugs(list: JsonValue | undefined, path: ConfigPath): Iterable<Problem> {
  if (!Array.isArray(list)) return
  if (list.length === 0) {
    yield { path, message: 'is empty', hint: 'name at least one slug, or remove it' }
  }
  const seen = new Set<string>()
  for (const [index, slug] of list.entries()) {
    if (typeof slug !== 'string') continue
    const trimmed = slug.trim()
    if (trimmed === '') {
      yield { path: [...path, index], message: 'is empty', hint: 'write a slug, such as anthropic' }
    } else if (seen.has(trimmed)) {
      yield {
        path: [...path, index],
        message: `repeats ${trimmed}`,
        hint: 'name each slug once',
      }
    }
    seen.add(trimmed)
  }
}

function* checkOverlap(provider: JsonObject, path: ConfigPath): Iterable<Problem> {
  const { only, ignore } = provider
  if (!Array.isArray(only) || !Array.isArray(ignore)) return
  const trimmed = (slug: JsonValue) => (typeof slug === 'string' ? slug.trim() : '')
  const allowed = new Set(only.map(trimmed))
  allowed.delete('')
  for (const [index, slug] of ignore.entries()) {
    if (!allowed.delete(trimmed(slug))) continue
    yield {
      path: [...path, 'ignore', index],
      message: `${trimmed(slug)} is also in only`,
      hint: 'remove it from one of the two lists',
    }
  }
}

function* checkLatency(latency: JsonValue | undefined, path: ConfigPath): Iterable<Problem> {
  const isWrong = (value: number) => !(Number.isFinite(value) && value > 0)
  if (typeof latency === 'number' && isWrong(latency)) {
    yield { path, message: 'must be above 0', hint: 'write seconds' }
  }
  const wrong = { isWrong, message: 'must be above 0', hint: 'write seconds' }
  yield* checkNumbers(latency, path, LATENCIES, wrong)
}

function* checkPrices(prices: JsonValue | undefined, path: ConfigPath): Iterable<Problem> {
  yield* checkNumbers(prices, path, PRICES, {
    isWrong: (value) => !(Number.isFinite(value) && value >= 0),
    message: 'must not be below 0',
    hint: 'write USD per million tokens',
  })
}

function* checkNumbers(
  block: JsonValue | undefined,
  path: ConfigPath,
  names: readonly string[],
  rule: { isWrong: (value: number) => boolean; message: string; hint: string },
): Iterable<Problem> {
  if (!isJsonObject(block)) return
  if (Object.keys(block).length === 0) {
    yield { path, message: 'is empty', hint: `set at least one of ${names.join(', ')}` }
  }
  for (const name of names) {
    const value = block[name]
    if (typeof value !== 'number' || !rule.isWrong(value)) continue
    yield { path: [...path, name], message: rule.message, hint: rule.hint }
  }
}
