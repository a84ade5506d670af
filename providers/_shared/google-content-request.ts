import type { JsonObject } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { geminiVersion, generationConfig } from './google-content-config.ts'
import { googleConversation } from './google-content-messages.ts'
import { googleTools } from './google-content-tools.ts'
import { invalidRequest } from './invalid-request.ts'

/** Members that are copied as they stand, with the spelling that chat callers may use. */
const COPIED = [
  ['safetySettings', 'safety_settings'],
  ['cachedContent', 'cached_content'],
  ['labels', 'labels'],
] as const

/** Stands for a signature that is lost: the service's own word for not checking it. */
const SKIP_SIGNATURE = 'skip_thought_signature_validator'

/**
 * A chat call as a GenerateContentRequest. What has no mapping is left out, because the upstream
 * refuses fields that it does not know. Throws GatewayError `invalid_request`.
 */
export function googleRequest(
  { body, stream, surface }: Pick<ProviderCall, 'body' | 'stream' | 'surface'>,
  upstreamModel: string,
): JsonObject {
  if (stream && typeof body.n === 'number' && body.n > 1) {
    throw invalidRequest('n: a stream has one choice only')
  }
  if (body.streamFunctionCallArguments === true) {
    throw invalidRequest('streamFunctionCallArguments is not supported')
  }
  // The messages API has no place for the signatures of calls, without which Gemini 3 refuses them.
  const unsigned = surface === 'messages' && geminiVersion(upstreamModel)[0] >= 3
  const { contents, systemInstruction } = googleConversation(
    body.messages,
    unsigned ? SKIP_SIGNATURE : undefined,
  )
  const config = generationConfig(body, upstreamModel)
  const request: JsonObject = {
    contents,
    ...(systemInstruction === undefined ? {} : { systemInstruction }),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    ...googleTools(body),
  }
  for (const [name, alias] of COPIED) {
    const value = body[name] ?? body[alias] ?? undefined
    if (value !== undefined) request[name] = value
  }
  return request
}
