import { isJsonObject } from 'model-gateway/plugin'
import type {
  BoundRoute,
  Egress,
  Execute,
  PricingIdentity,
  ProviderSettings,
  RouteSpec,
} from 'model-gateway/provider'
import { type AwsCredentialOptions, awsCredentials } from '../_shared/aws-credentials.ts'
import { createAwsSigner, withoutCredentials } from '../_shared/aws-signing.ts'
import {
  type Authentication,
  type CompatEndpoint,
  joinUrl,
  mergeHeaders,
} from '../_shared/compat-http.ts'
import { responsesExecutor } from '../_shared/compat-responses.ts'
import { COUNT_TOKENS, countExecutor } from '../_shared/count-tokens.ts'
import { invalidRequest } from '../_shared/invalid-request.ts'
import { nativeChat } from '../_shared/messages-chat.ts'
import { edgeMessages, invokeMessages, type MessagesDialect } from '../_shared/messages-dialect.ts'
import { nativeMessages } from '../_shared/messages-native.ts'
import { takesEffort } from '../_shared/reasoning-models.ts'
import type { Compatibility, Config, Profile } from './config.ts'
import { claudeId, edgeCounter, runtimeCounter } from './count-tokens.ts'
import { genericChat } from './generic.ts'
import { removeHostedImageTool } from './hosted-image-tool.ts'
import { type ApiStyle, encodeModelId, endpointOf, structuredOutputHint } from './styles.ts'
import { type Anomaly, unifiedChat } from './unified.ts'
import { takesEffortAlone } from './unified-reasoning.ts'

export interface Surroundings extends Omit<AwsCredentialOptions, 'region' | 'now'> {
  readonly egress: Egress
  now(): Date
  count(anomaly: Anomaly): void
}

const EDGE_VERSION = { 'anthropic-version': '2023-06-01' }
const EDGE_COUNT = 'anthropic/v1/messages/count_tokens'

/** Binds the routes of one provider; they share what is created here, above all the credentials. */
export function createBinder(
  config: Config,
  settings: ProviderSettings,
  surroundings: Surroundings,
): (route: RouteSpec) => BoundRoute {
  const { region, endpoint_url: endpointUrl } = config
  const authenticate = authentication(config, surroundings)

  return (route) => {
    const { upstreamModel, extraBody } = route
    const { api_style: style, base_path: basePath = '', betas } = profileOf(route)
    const { origin, service } = endpointOf(style, region, endpointUrl)
    const headers = withoutCredentials(
      mergeHeaders(
        style === 'edge_native_messages' ? EDGE_VERSION : {},
        settings.defaultHeaders,
        route.extraHeaders,
      ),
    )
    const endpoint = (path: string): CompatEndpoint => ({
      egress: surroundings.egress,
      url: joinUrl(origin, path),
      headers,
      ...authenticate(style, service),
    })
    const generic = (path: string) => endpoint(joinUrl(basePath, path).slice(1))
    const model = (operation: string) =>
      endpoint(`model/${encodeModelId(upstreamModel)}/${operation}`)
    const runtimeCount = (): Execute | undefined => {
      const id = claudeId(upstreamModel)
      if (id === undefined) return undefined
      const edge = endpointOf('edge_native_messages', region, endpointUrl)
      const other: CompatEndpoint = {
        egress: surroundings.egress,
        url: joinUrl(edge.origin, EDGE_COUNT),
        headers: { ...EDGE_VERSION, ...headers },
        ...authenticate('edge_native_messages', edge.service),
      }
      const own = endpoint(`model/${encodeModelId(id)}/count-tokens`)
      return countExecutor([runtimeCounter(own), edgeCounter(other, id)], route)
    }
    const pricing = pricingIdentity(upstreamModel, settings, headers)
    const instead = { json_schema: structuredOutputHint(style) }
    const chat = { supports: ['stream', 'tools', 'vision'], instead, pricing } as const
    const textOnly = (execute: Execute) =>
      withoutStructuredOutput(execute, route, instead.json_schema)
    const claude = (to: CompatEndpoint, dialect: MessagesDialect) => ({
      chat_completions: textOnly(nativeChat(to, { dialect, ...route })),
      messages: nativeMessages({ buffered: to, streamed: to }, { dialect, betas, ...route }),
    })

    switch (style) {
      case 'runtime_unified': {
        const endpoints = { buffered: model('converse'), streamed: model('converse-stream') }
        return {
          ...chat,
          reads: ['cache_control', 'is_error', 'tool_images'],
          takesEffort: takesEffortAlone(upstreamModel),
          execute: {
            chat_completions: textOnly(unifiedChat(endpoints, route, surroundings.count)),
            [COUNT_TOKENS]: runtimeCount(),
          },
        }
      }
      case 'runtime_native_invoke':
        return {
          ...chat,
          supports: ['tools', 'vision'],
          execute: {
            ...claude(model('invoke'), invokeMessages),
            [COUNT_TOKENS]: runtimeCount(),
          },
        }
      case 'edge_native_messages':
        return {
          ...chat,
          execute: {
            ...claude(endpoint('anthropic/v1/messages'), edgeMessages),
            [COUNT_TOKENS]: countExecutor(
              [edgeCounter(endpoint(EDGE_COUNT), upstreamModel)],
              route,
            ),
          },
        }
      case 'edge_generic_responses':
        return {
          ...chat,
          supports: [...chat.supports, 'json_schema'],
          execute: {
            responses: responsesExecutor(generic('responses'), upstreamModel, extraBody, {
              finish: removeHostedImageTool,
            }),
          },
        }
      case 'runtime_generic_chat':
      case 'edge_generic_chat':
        return {
          ...chat,
          compatShape: true,
          takesEffort: takesEffort(upstreamModel) ?? false,
          execute: {
            chat_completions: genericChat(generic('chat/completions'), upstreamModel, extraBody),
          },
        }
    }
  }
}

/** Refuses `response_format` with a specific message, because only one style supports it. */
function withoutStructuredOutput(
  execute: Execute,
  { unsupportedParams }: RouteSpec,
  hint: string,
): Execute {
  return async (call) => {
    const { response_format: format } = call.body
    const asked = isJsonObject(format) && format.type !== 'text'
    if (asked && unsupportedParams !== 'drop') throw invalidRequest(`response_format: ${hint}`)
    return execute(call)
  }
}

/** Relies on `checkRoute` for validation. */
function profileOf(route: RouteSpec): Profile {
  return (route.compatibility as Compatibility).cloud_b_ml as Profile
}

function authentication(
  { region, auth = { mode: 'default_chain' } }: Config,
  { now, warn }: Surroundings,
): (style: ApiStyle, service: string) => Authentication {
  if (auth.mode === 'bearer') {
    return (style) => ({
      credentials: (): Record<string, string> =>
        style === 'edge_native_messages'
          ? { 'x-api-key': auth.token.reveal() }
          : { authorization: `Bearer ${auth.token.reveal()}` },
    })
  }
  const source = awsCredentials(auth, { region, now: () => now().getTime(), warn })
  return (_, service) => createAwsSigner({ region, service }, source, now)
}

/** Headers that select another price, with their neutral values. */
const priceHeaders: ReadonlyMap<string, string> = new Map([
  ['x-amzn-bedrock-service-tier', 'default'],
  ['x-amzn-bedrock-performanceconfig-latency', 'standard'],
])

function pricingIdentity(
  upstreamModel: string,
  settings: ProviderSettings,
  headers: Readonly<Record<string, string>>,
): PricingIdentity {
  const modified = [...priceHeaders].some(
    ([name, ordinary]) => (headers[name] ?? ordinary) !== ordinary,
  )
  return {
    pricingProviderId: settings.pricingProviderId ?? 'amazon-bedrock',
    model: upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1),
    ...(modified ? { unpriceable: 'unsupported_billing_modifier' } : {}),
  }
}
