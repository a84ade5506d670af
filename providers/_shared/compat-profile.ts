import {
  isJsonObject,
  type JsonObject,
  type Problem,
  type Static,
  Type,
} from 'model-gateway/plugin'
import type { BoundRoute, ProviderCall, RouteSpec } from 'model-gateway/provider'
import { foldKey, readParams } from 'model-gateway/wire'
import { CHOICES } from './compat-choices.ts'
import type { OutboundBody } from './outbound-body.ts'
import { needsResponses, takesEffort } from './reasoning-models.ts'

/**
 * `compatibility.generic_compat`: how the upstream's chat completions differ from OpenAI's. The
 * schema has no defaults, so that the copy in the database equals the config file.
 */
export const profileSchema = Type.Object(
  {
    upstream_api: Type.Optional(
      Type.Union([Type.Literal('chat'), Type.Literal('responses')], {
        description:
          'The upstream API for chat completions. Default chat; at api.openai.com, responses for models that combine reasoning and tools only there',
      }),
    ),
    supports_store: Type.Optional(
      Type.Boolean({ description: 'false: `store` is not sent. Default true' }),
    ),
    max_tokens_field: Type.Optional(
      Type.Union([Type.Literal('max_completion_tokens'), Type.Literal('max_tokens')], {
        description: 'Name of the token limit in requests. Default max_completion_tokens',
      }),
    ),
    developer_role: Type.Optional(
      Type.Union([Type.Literal('developer'), Type.Literal('system')], {
        description: 'Role of developer messages in requests. Default developer',
      }),
    ),
    reasoning_effort: Type.Optional(
      Type.Union(
        [Type.Literal('passthrough'), Type.Literal('omit'), Type.Literal('reasoning_object')],
        {
          description:
            'reasoning_object: {"reasoning": {"effort": …}}. Default passthrough. If set, it also applies to messages calls; otherwise their effort is sent if upstream_model is known to accept it',
        },
      ),
    ),
    takes_reasoning_content: Type.Optional(
      Type.Boolean({
        description:
          'true: for callers of the messages API, the thinking of earlier turns is sent back as reasoning_content. Default true for DeepSeek, Kimi, GLM, MiniMax and MiMo, else false',
      }),
    ),
    supports_stream_usage: Type.Optional(
      Type.Union([Type.Boolean(), Type.Literal('unasked')], {
        description:
          'true: request usage in streams, which is needed to price them. unasked: the upstream reports it by default, and stream_options is not sent. Default false',
      }),
    ),
    unsupported_members: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          'Members of chat calls that the upstream refuses; members of messages as messages[].name. Members that change the answer are refused with 400, others are dropped and reported; unsupported_params of the route overrides this. Default none',
      }),
    ),
    bills_stated_cost: Type.Optional(
      Type.Boolean({
        description:
          'true: the cost in USD in replies (usage.cost of OpenRouter and Perplexity, cost_in_usd_ticks of xAI) is the price of a call. Default true with compatibility.aggregator, else false',
      }),
    ),
    usage_chunks: Type.Optional(
      Type.Union([Type.Literal('always'), Type.Literal('asked')], {
        description:
          'asked: chunks with only usage are sent only to callers that set stream_options.include_usage, because some clients read choices[0] of each chunk. Usage is always counted. Default always',
      }),
    ),
    caller_choices: Type.Optional(
      Type.Array(Type.Union(Object.keys(CHOICES).map((name) => Type.Literal(name))), {
        description:
          'Members that select models or sellers, which callers may send, in each dialect. Grants and prices remain those of the route. Default none',
      }),
    ),
  },
  { additionalProperties: false },
)
export type Profile = Static<typeof profileSchema>

/** The upstream API that chat completions use. */
export function upstreamApi(
  { upstream_api: stated }: Profile,
  baseUrl: string,
  upstreamModel: string,
): 'chat' | 'responses' {
  const { host = '' } = URL.parse(baseUrl) ?? {}
  // Also with a region: `eu.api.openai.com`.
  const isOpenai = host === 'api.openai.com' || host.endsWith('.api.openai.com')
  return stated ?? (isOpenai && needsResponses(upstreamModel) ? 'responses' : 'chat')
}

/** Whether the effort of a call from another API is sent: by the profile, or by the model. */
export function effortTaken(
  profile: Profile,
  api: 'chat' | 'responses',
  upstreamModel: string,
): NonNullable<BoundRoute['takesEffort']> {
  if (profile.reasoning_effort !== undefined) return profile.reasoning_effort !== 'omit'
  const known = takesEffort(upstreamModel) ?? false
  return api === 'responses' ? known !== false : known
}

/** A change to the outbound body of one chat call. */
export type Transform = (body: OutboundBody, call: Pick<ProviderCall, 'stream' | 'dropped'>) => void

/**
 * The transforms of a profile; none for the defaults. `null` counts as absent. `unsupported`: the
 * route's setting for members that the upstream refuses.
 */
export function profileTransforms(
  profile: Profile,
  unsupported: RouteSpec['unsupportedParams'],
): readonly Transform[] {
  const transforms: Transform[] = []
  const refused = profile.unsupported_members ?? []
  if (refused.length > 0) transforms.push(withoutRefused(refused, unsupported))
  if (profile.supports_store === false) transforms.push(leavesOut('store'))
  if (profile.supports_stream_usage === 'unasked') transforms.push(withoutStreamOptions)
  if (profile.max_tokens_field === 'max_tokens') transforms.push(renameMaxTokens)
  if (profile.developer_role === 'system') transforms.push(developerToSystem)
  if (profile.reasoning_effort === 'omit') {
    transforms.push(leavesOut('reasoning_effort'))
  }
  if (profile.reasoning_effort === 'reasoning_object') transforms.push(effortToReasoning)
  return transforms
}

function leavesOut(name: string): Transform {
  return (body, { dropped }) => {
    const value = body.get(name)
    if (value === undefined) return
    body.remove(name)
    if (value !== null && value !== false) dropped(name)
  }
}

/** Requests usage from a streaming upstream, whatever the caller asked for. */
export const requestStreamUsage: Transform = (body, { stream }) => {
  if (!stream) return
  const options = body.get('stream_options')
  const others = Object.entries(isJsonObject(options) ? options : {})
    // Replaces the caller's spelling too, because an upstream that ignores case could use it.
    .filter(([name]) => foldKey(name) !== 'include_usage')
  body.set('stream_options', { ...Object.fromEntries(others), include_usage: true })
}

const OF_MESSAGES = 'messages[].'

/**
 * Drops members that the upstream refuses. Throws `invalid_request` if a member changes the answer.
 */
function withoutRefused(
  names: readonly string[],
  unsupported: RouteSpec['unsupportedParams'],
): Transform {
  const refused = new Set(names)
  return (body, { dropped }) => {
    const told = new Set<string>()
    const policy = { unsupported, dropped: (name: string) => void told.add(name) }
    /** The refused members of the body, or of a message. */
    const refusedIn = (members: JsonObject, prefix = '') => {
      const found = Object.keys(members).filter((name) => refused.has(prefix + name))
      readParams(
        Object.fromEntries(found.map((name) => [prefix + name, members[name]])),
        new Set(),
        policy,
      )
      return found
    }
    for (const name of refusedIn(body.members())) body.remove(name)
    const messages = body.get('messages')
    if (Array.isArray(messages)) {
      const kept = messages.map((message) => {
        const found = isJsonObject(message) ? refusedIn(message, OF_MESSAGES) : []
        if (found.length === 0) return message
        const others = Object.entries(message as JsonObject)
        return Object.fromEntries(others.filter(([name]) => !found.includes(name)))
      })
      if (kept.some((message, index) => message !== messages[index])) body.set('messages', kept)
    }
    for (const name of told) dropped(name)
  }
}

const withoutStreamOptions: Transform = (body) => {
  if (body.get('stream_options') !== undefined) body.remove('stream_options')
}

const renameMaxTokens: Transform = (body) => {
  const limit = body.get('max_completion_tokens')
  if (limit === undefined) return
  body.remove('max_completion_tokens')
  if (limit !== null && body.get('max_tokens') == null) body.set('max_tokens', limit)
}

const developerToSystem: Transform = (body) => {
  const messages = body.get('messages')
  if (!Array.isArray(messages)) return
  const isDeveloper = (message: unknown) => isJsonObject(message) && message.role === 'developer'
  if (!messages.some(isDeveloper)) return
  body.set(
    'messages',
    messages.map((message) =>
      isJsonObject(message) && isDeveloper(message) ? { ...message, role: 'system' } : message,
    ),
  )
}

const effortToReasoning: Transform = (body) => {
  const effort = body.get('reasoning_effort')
  if (effort === undefined) return
  body.remove('reasoning_effort')
  if (effort !== null && body.get('reasoning') == null) body.set('reasoning', { effort })
}

/** Warns about a priced route whose streams may not report usage. */
export function* checkMetering(
  route: Readonly<JsonObject>,
  provider: Readonly<JsonObject>,
): Iterable<Problem> {
  const compatibility = isJsonObject(route.compatibility) ? route.compatibility : {}
  const capabilities = isJsonObject(route.capabilities) ? route.capabilities : {}
  const streams = capabilities.chat_completions !== false && capabilities.stream !== false
  if (typeof provider.pricing_provider_id !== 'string' || !streams || route.enabled === false)
    return
  const profile = isJsonObject(compatibility.generic_compat) ? compatibility.generic_compat : {}
  if (profile.supports_stream_usage === true || profile.supports_stream_usage === 'unasked') return
  const { base_url: baseUrl, upstream_model: model } = { ...provider, ...route }
  // The responses API always reports it.
  if (upstreamApi(profile as Profile, String(baseUrl), String(model)) === 'responses') return
  yield {
    path: ['compatibility', 'generic_compat', 'supports_stream_usage'],
    message: 'is false on a priced route that streams chat: its streams may go unmetered',
    hint: 'set it to true if the upstream supports stream_options.include_usage',
    severity: 'warning',
  }
}
