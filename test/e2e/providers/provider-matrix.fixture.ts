/** The cells of the support matrix: which routes there are, what is asked of them, what they serve. */
import type { JsonObject } from 'model-gateway/plugin'

export const asked = ['chat_completions', 'messages', 'responses', 'embeddings'] as const
export type Asked = (typeof asked)[number]

export const scenarios = ['text', 'tools', 'results', 'images', 'reasoning', 'errors'] as const
export type Scenario = (typeof scenarios)[number]

export const question = 'Which way do rivers run?'

export type Wire =
  | 'openai'
  | 'predict'
  | 'embedContent'
  | 'google'
  | 'rawPredict'
  | 'invoke'
  | 'edge'
  | 'vendor'
  | 'batchEmbedContents'
  | 'converse'

export interface MatrixRoute {
  /** The model that callers name. */
  readonly id: string
  readonly provider: string
  readonly upstreamModel: string
  readonly style?: string
  readonly families: readonly Asked[]
  readonly wire: Wire
  /** Who the upstream must see. */
  readonly identity:
    | 'key'
    | 'id_token'
    | 'access_token'
    | 'signed bedrock'
    | 'signed bedrock-mantle'
  /** Upstream path, buffered and streamed. */
  readonly path: Partial<Record<Asked, readonly [buffered: string, streamed: string]>>
  /** What it refuses, of what its families serve. */
  readonly refuses?: readonly (Scenario | 'stream')[]
}

const chat = ['chat_completions', 'messages'] as const
const both = (path: string) => [path, path] as const
const bothChat = (path: readonly [string, string]) => ({ chat_completions: path, messages: path })
const compat = (base: string) => ({
  ...bothChat(both(`${base}/chat/completions`)),
  responses: both(`${base}/responses`),
  embeddings: both(`${base}/embeddings`),
})
const vertex = (model: string) =>
  `/v1/projects/demo-project/locations/global/publishers/${model.replace('/', '/models/')}`
const bedrock = (style: string) => ({ provider: 'cloud_b_ml', style })

const GEMINI = 'google/gemini-2.5-flash'
const CLAUDE = 'anthropic/claude-sonnet-4-6'
const CONVERSE = 'global.anthropic.claude-opus-4-7'
const INVOKE = 'us.anthropic.claude-opus-4-7-v1:0'

export const routes: readonly MatrixRoute[] = [
  {
    id: 'anthropic',
    provider: 'anthropic',
    upstreamModel: 'claude-opus-4-8',
    families: chat,
    wire: 'vendor',
    identity: 'key',
    path: bothChat(both('/v1/messages')),
  },
  {
    id: 'gemini',
    provider: 'gemini',
    upstreamModel: 'gemini-2.5-flash',
    families: chat,
    wire: 'google',
    identity: 'key',
    path: bothChat([
      '/v1beta/models/gemini-2.5-flash:generateContent',
      '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    ]),
  },
  {
    id: 'gemini embeddings',
    provider: 'gemini',
    upstreamModel: 'gemini-embedding-001',
    families: ['embeddings'],
    wire: 'batchEmbedContents',
    identity: 'key',
    path: { embeddings: both('/v1beta/models/gemini-embedding-001:batchEmbedContents') },
  },
  {
    id: 'azure_openai',
    provider: 'azure_openai',
    upstreamModel: 'gpt-x',
    families: asked,
    wire: 'openai',
    identity: 'key',
    path: compat('/openai/v1'),
  },
  {
    id: 'generic_compat',
    provider: 'generic_compat',
    upstreamModel: 'gpt-x',
    families: asked,
    wire: 'openai',
    identity: 'key',
    path: compat('/v1'),
  },
  {
    id: 'cloud_a_serverless_compat',
    provider: 'cloud_a_serverless_compat',
    upstreamModel: 'Qwen/Qwen3-32B',
    families: asked,
    wire: 'openai',
    identity: 'id_token',
    path: compat('/v1'),
  },
  {
    id: 'cloud_a_ml google',
    provider: 'cloud_a_ml',
    upstreamModel: GEMINI,
    families: chat,
    wire: 'google',
    identity: 'access_token',
    path: bothChat([
      `${vertex(GEMINI)}:generateContent`,
      `${vertex(GEMINI)}:streamGenerateContent?alt=sse`,
    ]),
  },
  {
    id: 'cloud_a_ml anthropic',
    provider: 'cloud_a_ml',
    upstreamModel: CLAUDE,
    families: chat,
    wire: 'rawPredict',
    identity: 'access_token',
    path: bothChat([`${vertex(CLAUDE)}:rawPredict`, `${vertex(CLAUDE)}:streamRawPredict`]),
    refuses: ['images'],
  },
  {
    id: 'cloud_a_ml predict',
    provider: 'cloud_a_ml',
    upstreamModel: 'google/text-embedding-005',
    families: ['embeddings'],
    wire: 'predict',
    identity: 'access_token',
    path: { embeddings: both(`${vertex('google/text-embedding-005')}:predict`) },
  },
  {
    id: 'cloud_a_ml embedContent',
    provider: 'cloud_a_ml',
    upstreamModel: 'google/gemini-embedding-2',
    families: ['embeddings'],
    wire: 'embedContent',
    identity: 'access_token',
    path: { embeddings: both(`${vertex('google/gemini-embedding-2')}:embedContent`) },
  },
  {
    id: 'runtime_unified',
    ...bedrock('runtime_unified'),
    upstreamModel: CONVERSE,
    families: chat,
    wire: 'converse',
    identity: 'signed bedrock',
    path: bothChat([`/model/${CONVERSE}/converse`, `/model/${CONVERSE}/converse-stream`]),
  },
  {
    id: 'runtime_native_invoke',
    ...bedrock('runtime_native_invoke'),
    upstreamModel: INVOKE,
    families: chat,
    wire: 'invoke',
    identity: 'signed bedrock',
    path: bothChat(both(`/model/${encodeURIComponent(INVOKE)}/invoke`)),
    refuses: ['stream'],
  },
  {
    id: 'runtime_generic_chat',
    ...bedrock('runtime_generic_chat'),
    upstreamModel: 'openai.gpt-oss-120b-1:0',
    families: chat,
    wire: 'openai',
    identity: 'signed bedrock',
    path: bothChat(both('/openai/v1/chat/completions')),
  },
  {
    id: 'edge_generic_responses',
    ...bedrock('edge_generic_responses'),
    upstreamModel: 'openai.gpt-5.5',
    families: ['responses'],
    wire: 'openai',
    identity: 'signed bedrock-mantle',
    path: { responses: both('/openai/v1/responses') },
  },
  {
    id: 'edge_generic_chat',
    ...bedrock('edge_generic_chat'),
    upstreamModel: 'openai.gpt-oss-120b',
    families: chat,
    wire: 'openai',
    identity: 'signed bedrock-mantle',
    path: bothChat(both('/openai/v1/chat/completions')),
  },
  {
    id: 'edge_native_messages',
    ...bedrock('edge_native_messages'),
    upstreamModel: 'anthropic.claude-opus-4-8',
    families: chat,
    wire: 'edge',
    identity: 'signed bedrock-mantle',
    path: bothChat(both('/anthropic/v1/messages')),
  },
]

/** `supported`, `refused` with 400, or `none`: the family has no such thing. */
export function supportOf(route: MatrixRoute, family: Asked, stream: boolean, scenario: Scenario) {
  if (family === 'embeddings' && (stream || !['text', 'errors'].includes(scenario))) return 'none'
  const { families, refuses = [] } = route
  const refused = refuses.includes(scenario) || (stream && refuses.includes('stream'))
  return families.includes(family) && !refused ? 'supported' : 'refused'
}

/** Providers whose routes of the matrix state nothing of their upstream. */
const WITHOUT_PROFILE: ReadonlySet<string> = new Set(['anthropic', 'gemini', 'cloud_a_ml'])

/** One user who may use every model, one model for each route, and prices for all. */
export function matrixConfig(providers: readonly JsonObject[]): Record<string, unknown> {
  const rates = {
    input_usd_per_million: '2.5',
    cache_read_usd_per_million: '0.25',
    output_usd_per_million: '10',
  }
  return {
    providers,
    models: routes.map(({ id, provider, upstreamModel, style, families }) => {
      const base_path = style?.includes('generic') === true ? { base_path: '/openai/v1' } : {}
      const compatibility = WITHOUT_PROFILE.has(provider)
        ? {}
        : style === undefined
          ? { generic_compat: { supports_stream_usage: true, reasoning_effort: 'passthrough' } }
          : { cloud_b_ml: { api_style: style, ...base_path } }
      const capabilities = families.includes('chat_completions') ? {} : { chat_completions: false }
      return {
        id,
        routes: [{ provider, upstream_model: upstreamModel, compatibility, capabilities }],
      }
    }),
    pricing: {
      overrides: [...new Map(routes.map((route) => [pricingOf(route).join(), route])).values()].map(
        (route) => {
          const [pricing_provider_id, model] = pricingOf(route)
          return { pricing_provider_id, model, ...rates }
        },
      ),
    },
  }
}

/** Lists of providers that state none. */
const OWN_LISTS: ReadonlyMap<string, string> = new Map([
  ['anthropic', 'anthropic'],
  ['gemini', 'google-vertex'],
  ['azure_openai', 'azure'],
])

function pricingOf({ provider, upstreamModel }: MatrixRoute): readonly [string, string] {
  if (provider === 'cloud_b_ml') return ['amazon-bedrock', upstreamModel]
  const own = OWN_LISTS.get(provider)
  if (own !== undefined) return [own, upstreamModel]
  if (provider !== 'cloud_a_ml') return ['own', upstreamModel]
  const [publisher, model = ''] = upstreamModel.split('/')
  return [publisher === 'google' ? 'google-vertex' : 'google-vertex-anthropic', model]
}
