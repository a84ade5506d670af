import type { JsonObject } from 'model-gateway/plugin'
import type { ProviderCall, RouteSpec } from 'model-gateway/provider'
import { leaveOut, readParams } from 'model-gateway/wire'
import type { GoogleProviderType } from './google-content-choice.ts'
import { CONFIG_PARAMS, generationConfig, isNewerGemini } from './google-content-config.ts'
import { googleConversation } from './google-content-messages.ts'
import { googleTools, TOOL_PARAMS } from './google-content-tools.ts'
import { invalidRequest } from './invalid-request.ts'
import type { ToolNames } from './tool-names.ts'

/** Members that are copied unchanged, also in the spelling of chat callers. */
const COPIED = [
  ['safetySettings', 'safety_settings'],
  ['cachedContent', 'cached_content'],
  ['labels', 'labels'],
] as const

/** Members that the request has a place for, or that the gateway handles. */
const MAPPED: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'streamFunctionCallArguments'],
  ...CONFIG_PARAMS,
  ...TOOL_PARAMS,
  ...COPIED.flat(),
])

/** A route to a Google model; `upstreamModel` is without publisher. */
export interface GoogleRoute extends Pick<RouteSpec, 'upstreamModel' | 'unsupportedParams'> {
  /** Default cloud_a_ml. AI Studio matches calls by id, and does not accept labels. */
  readonly providerType?: GoogleProviderType
}

/**
 * Converts a chat call to a GenerateContentRequest. Members without a place are left out and
 * reported as dropped, because the upstream refuses unknown fields. `names` maps tool names. Throws
 * GatewayError `invalid_request`.
 */
export function googleRequest(
  { body, stream, dropped }: Pick<ProviderCall, 'body' | 'stream' | 'dropped'>,
  { upstreamModel, unsupportedParams, providerType = 'cloud_a_ml' }: GoogleRoute,
  names: ToolNames,
): JsonObject {
  const policy = { unsupported: unsupportedParams, dropped }
  const params = readParams(body, MAPPED, policy)
  // "streamGenerateContent is not supported" with several candidates.
  if (stream && params.n !== undefined) {
    leaveOut('n', policy)
    delete params.n
  }
  if (params.streamFunctionCallArguments === true) {
    throw invalidRequest('streamFunctionCallArguments is not supported')
  }
  const { contents, systemInstruction } = googleConversation(params.messages, {
    newer: isNewerGemini(upstreamModel),
    ids: providerType === 'gemini',
    names,
    dropped,
  })
  const config = generationConfig(params, upstreamModel, stream)
  const request: JsonObject = {
    contents,
    ...(systemInstruction === undefined ? {} : { systemInstruction }),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    ...googleTools(params, names, policy),
  }
  for (const [name, alias] of COPIED) {
    const value = params[name] ?? params[alias]
    if (name === 'labels' && value !== undefined && providerType === 'gemini') {
      dropped(name)
      continue
    }
    if (value !== undefined && Object.keys(value as object).length > 0) request[name] = value
  }
  return request
}
