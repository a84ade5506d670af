import type { Caller, DecodedRequest, Seam } from 'model-gateway/middleware'
import type { RequestTags } from 'model-gateway/observer'
import type { JsonObject } from 'model-gateway/plugin'
import { frozen } from './kit.ts'

/** What a request past a middleware looks like, as far as it matters. */
export interface ExchangeSample {
  /** Default: `chat_completions`. */
  readonly surface?: string
  readonly requestId?: string
  /** What it says, in its body. */
  readonly text?: string
  /** Its body; wins over `text`. */
  readonly request?: JsonObject
  readonly requestHeaders?: Readonly<Record<string, string>>
  readonly tags?: Partial<RequestTags>
  /** What other middlewares left for this one. */
  readonly state?: Readonly<Record<string, unknown>>
  /** No tags, and at `respond` no caller: the request was not authenticated. */
  readonly bare?: boolean
}

/** An exchange, and what was done to it. */
export interface SeenExchange {
  // biome-ignore lint/suspicious/noExplicitAny: each seam has its own; the chain hands it on as it is
  readonly exchange: any
  /** What `next` gives. */
  readonly result: unknown
  stepRan(): void
  steps(): number
  replacedBody(): JsonObject | undefined
  /** Headers that were set at `respond`. */
  headers(): Readonly<Record<string, string>>
}

const caller: Caller = frozen({
  apiKeyId: '0199e7a4-0000-7000-8000-000000000001',
  ownershipScopeKey: 'user:0199e7a4-0000-7000-8000-000000000002',
  owner: {
    kind: 'user',
    userId: '0199e7a4-0000-7000-8000-000000000002',
    email: 'ada@example.com',
    name: 'Ada',
    team: undefined,
    requestLoggingEnabled: true,
  },
})

/** Headers that the gateway sets itself. */
const OWN =
  /^(connection|content-(encoding|length|type)|date|keep-alive|request-id|retry-after|te|trailer|transfer-encoding|upgrade|www-authenticate|x-request-id)$/

/** The surfaces of the APIs that come with the gateway. */
export const sampledSurfaces = ['chat_completions', 'responses', 'embeddings', 'messages']

function bodyOf(surface: string, text: string): JsonObject {
  if (surface === 'embeddings') return { model: 'fast', input: [text] }
  if (surface === 'responses') return { model: 'fast', input: text }
  const messages = [{ role: 'user', content: text }]
  return { model: 'fast', messages, ...(surface === 'messages' && { max_tokens: 100 }) }
}

/** An exchange of a seam, frozen like the gateway's, with everything that a middleware can do to it. */
export function sampleExchange(seam: Seam, sample: ExchangeSample): SeenExchange {
  const {
    surface = 'chat_completions',
    requestId = 'request-1',
    text = 'Where do rivers run?',
  } = sample
  const bare = sample.bare === true
  let body = frozen(structuredClone(sample.request ?? bodyOf(surface, text)))
  let replaced: JsonObject | undefined
  let steps = 0
  const headers: Record<string, string> = {}
  const tags: RequestTags = frozen({
    service: bare ? undefined : 'search',
    component: bare ? undefined : 'indexer',
    env: bare ? undefined : 'test',
    custom: bare ? [] : [{ key: 'job', value: 'nightly' }],
    ...sample.tags,
  })
  const common = {
    requestId,
    operation: surface === 'messages' ? 'chat_completions' : surface,
    surface,
    state: new Map(Object.entries(sample.state ?? {})),
    header: (name: string) => sample.requestHeaders?.[name.toLowerCase()] ?? null,
  }
  const decoded: DecodedRequest = {
    requestedModel: 'fast',
    stream: body.stream === true,
    tags,
    get body() {
      return body
    },
    replaceBody(other) {
      body = frozen(structuredClone(other))
      replaced = body
    },
  }
  const planned = {
    ...common,
    caller,
    requestedModel: 'fast',
    stream: body.stream === true,
    tags,
    body,
    resolvedModel: 'small-model',
    provider: 'some-provider',
    upstreamModel: 'small-model-2',
    routeId: 'small-model/some-provider/small-model-2',
  }
  const respond = {
    ...common,
    caller: bare ? undefined : caller,
    stream: body.stream === true,
    status: bare ? 401 : 200,
    errorCode: bare ? 'api_key_not_found' : undefined,
    setHeader(name: string, value: string) {
      if (steps > 0) throw new Error(`set the header ${name} after the response headers were final`)
      if (OWN.test(name.toLowerCase())) {
        throw new Error(`set the header ${name}, which the gateway sets itself`)
      }
      headers[name.toLowerCase()] = new Headers({ [name]: value }).get(name) ?? ''
    },
  }
  const exchange = { decode: { ...common, caller }, admit: planned, execute: planned, respond }[
    seam
  ]
  return {
    exchange: Object.freeze(exchange),
    result: seam === 'decode' ? decoded : undefined,
    stepRan() {
      steps++
    },
    steps: () => steps,
    replacedBody: () => replaced,
    headers: () => headers,
  }
}
