import type {
  BoundRoute,
  Egress,
  Execute,
  ProviderSettings,
  RouteSpec,
} from 'model-gateway/provider'
import { type ChatRoute, chatExecutor } from './compat-chat.ts'
import { choiceCheck } from './compat-choices.ts'
import { imageFormExecutor, soundFormExecutor } from './compat-form.ts'
import { type Authentication, type CompatEndpoint, joinUrl, mergeHeaders } from './compat-http.ts'
import { type JsonRules, jsonExecutor } from './compat-json.ts'
import { effortTaken, upstreamApi } from './compat-profile.ts'
import { responsesExecutor } from './compat-responses.ts'
import { speechExecutor } from './compat-speech.ts'
import {
  completeCompletion,
  completeEmbeddings,
  completeImages,
  completeModeration,
  completeRerank,
} from './exact-compat.ts'
import { hasChatAlone } from './reasoning-models.ts'
import { type ResponsesChatRoute, responsesChatExecutor } from './responses-chat.ts'
import { wantsReasoning } from './returned-reasoning.ts'

/** An OpenAI-compatible API, with its authentication. */
export interface CompatService extends Authentication {
  readonly egress: Egress
  /** With its version. */
  readonly baseUrl: string
  readonly settings: ProviderSettings
  /** The provider's id, under which replies keep provider-specific members. */
  readonly type: string
  /** The dialects that the service supports, if known. Default: all that are implemented here. */
  readonly apis?: readonly string[]
  /** Paths that differ from OpenAI's, relative to the base URL: `../v2/rerank`. */
  readonly paths?: Readonly<Record<string, string>> | undefined
}

/** Precomputes everything that does not depend on the call. */
export function bindCompatRoute(
  { baseUrl, settings, type, apis, paths = {}, ...service }: CompatService,
  { upstreamModel, extraBody, extraHeaders, unsupportedParams }: RouteSpec,
  { profile, aggregatorProvider }: Pick<ChatRoute, 'profile' | 'aggregatorProvider'>,
): BoundRoute {
  const settled = [...Object.keys(extraBody), ...(profile.caller_choices ?? [])]
  const checkChoices = choiceCheck(upstreamModel, settled)
  // Only chat sends the aggregator's block, which replaces the caller's.
  const ofChat = aggregatorProvider === undefined ? settled : [...settled, 'provider']
  const headers = mergeHeaders(settings.defaultHeaders, extraHeaders)
  const endpoint = (path: string): CompatEndpoint => ({
    ...service,
    url: joinUrl(baseUrl, paths[path] ?? path),
    headers,
  })
  const api = upstreamApi(profile, baseUrl, upstreamModel)
  const wantsBack = profile.takes_reasoning_content ?? wantsReasoning(upstreamModel)
  const chat: ResponsesChatRoute = {
    upstreamModel,
    profile,
    aggregatorProvider,
    extraBody,
    checkChoices: choiceCheck(upstreamModel, ofChat),
    providerType: type,
    unsupportedParams,
  }
  const route = { upstreamModel, extraBody, checkChoices }
  const passes = (path: string, rules?: JsonRules) => jsonExecutor(endpoint(path), route, rules)
  const billsStatedCost = profile.bills_stated_cost ?? aggregatorProvider !== undefined
  return {
    supports: ['stream', 'tools', 'vision', 'json_schema'],
    compatShape: true,
    reads:
      api === 'responses'
        ? ['tool_images', 'provider_metadata']
        : wantsBack
          ? ['reasoning_content']
          : [],
    takesEffort: effortTaken(profile, api, upstreamModel),
    pricing: {
      pricingProviderId: settings.pricingProviderId,
      model: upstreamModel,
      ...(billsStatedCost && { billsStatedCost }),
    },
    execute: only(apis, {
      chat_completions:
        api === 'responses'
          ? responsesChatExecutor(endpoint('responses'), chat)
          : chatExecutor(endpoint('chat/completions'), chat),
      responses: responsesExecutor(endpoint('responses'), upstreamModel, extraBody, {
        check: checkChoices,
      }),
      ...(!hasChatAlone(upstreamModel) && {
        completions: passes('completions', { complete: completeCompletion, profile }),
      }),
      embeddings: passes('embeddings', { complete: completeEmbeddings }),
      moderations: passes('moderations', { complete: completeModeration }),
      rerank: jsonExecutor({ ...endpoint('rerank'), listMember: 'results' }, route, {
        complete: completeRerank,
      }),
      images: passes('images/generations', { complete: completeImages }),
      'images.edits': imageFormExecutor(
        endpoint('images/edits'),
        route,
        passes('images/edits', { complete: completeImages }),
      ),
      'audio.speech': speechExecutor(endpoint('audio/speech'), route),
      'audio.transcriptions': soundFormExecutor(endpoint('audio/transcriptions'), route),
      'audio.translations': soundFormExecutor(endpoint('audio/translations'), route),
    }),
  }
}

function only(
  apis: readonly string[] | undefined,
  all: Readonly<Record<string, Execute>>,
): BoundRoute['execute'] {
  if (apis === undefined) return all
  return Object.fromEntries(Object.entries(all).filter(([dialect]) => apis.includes(dialect)))
}
