import { ConfigError } from 'model-gateway/plugin'
import type { BoundRoute, PricingIdentity, RouteSpec } from 'model-gateway/provider'
import { COUNT_TOKENS } from '../_shared/count-tokens.ts'
import { type GoogleModel, googleChat } from '../_shared/google-chat.ts'
import { takesThinking } from '../_shared/google-content-config.ts'
import { GOOGLE, nativeGoogle } from '../_shared/google-native.ts'
import { type Compatibility, unknownModel } from './config.ts'
import { vertexCount } from './count-tokens.ts'
import { embeddingsExecutor } from './embeddings.ts'
import { modelEndpoint, type Service } from './endpoint.ts'
import { messagesExecutors } from './messages-chat.ts'
import { readUpstreamModel, type UpstreamModel } from './upstream-model.ts'

/** Precomputes everything that does not depend on the call. */
export function bindRoute(service: Service, route: RouteSpec): BoundRoute {
  const model = readUpstreamModel(route.upstreamModel)
  if (model === undefined) throw new ConfigError([unknownModel])
  const endpoint = modelEndpoint(service, model, route)
  const pricing = pricingIdentity(model, service.config.location ?? 'global')
  const { cloud_a_ml: profile } = route.compatibility as Compatibility
  if (model.embedding !== undefined) {
    const embeddings = embeddingsExecutor(endpoint, model.embedding, route.extraBody, profile)
    return { supports: [], pricing, execute: { embeddings } }
  }
  const google: GoogleModel = {
    providerType: 'cloud_a_ml',
    buffered: endpoint.method('generateContent'),
    streamed: endpoint.method('streamGenerateContent?alt=sse'),
    billingModifiers: endpoint.billingModifiers,
  }
  return model.publisher === 'google'
    ? {
        supports: ['stream', 'tools', 'vision', 'json_schema'],
        reads: ['tool_images'],
        takesEffort: takesThinking(model.id),
        pricing,
        execute: {
          chat_completions: googleChat(google, { ...route, upstreamModel: model.id }),
          [GOOGLE]: nativeGoogle(google, route),
        },
      }
    : {
        supports: ['stream', 'tools'],
        pricing,
        execute: {
          ...messagesExecutors(endpoint, model.id, route, profile?.betas),
          [COUNT_TOKENS]: vertexCount(service, model.id, route),
        },
      }
}

function pricingIdentity({ publisher, id }: UpstreamModel, location: string): PricingIdentity {
  if (publisher === 'google') return { pricingProviderId: 'google-vertex', model: id }
  return {
    pricingProviderId: 'google-vertex-anthropic',
    model: id,
    // Other locations have other prices, which the price list does not have.
    ...(location === 'global' ? {} : { unpriceable: 'unsupported_location' as const }),
  }
}
