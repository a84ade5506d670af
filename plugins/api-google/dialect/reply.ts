import { searchesOf, usageFromGoogle } from 'model-gateway/google'
import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ReplyFacts } from 'model-gateway/surface'
import { failureOf, isPresent, readChatUsage, strayWords, type Usage } from 'model-gateway/wire'
import { objectIn, objectsIn } from '../_shared/shape.ts'

/** Reads the facts of a GenerateContentResponse. Throws as `Dialect.readReply` does. */
export function readGenerated(value: JsonValue): ReplyFacts {
  const body = isJsonObject(value) ? value : {}
  const usage = readGoogleUsage(body.usageMetadata, candidatesOf(body))
  // A blocked prompt has no candidates.
  if (Array.isArray(body.candidates) || isBlocked(body)) {
    return { usage, invokedToolCount: candidatesOf(body).flatMap(callsOf).length }
  }
  const what = isPresent(body.error)
    ? `it is an error: ${failureOf(body).message}`
    : `candidates is not an array${strayWords(body)}`
  throw new GatewayError(
    'upstream_transport',
    `malformed reply of the upstream: ${what}`,
    usage === undefined ? {} : { usage },
  )
}

/** `usageMetadata`, and the searches of candidates, which cost extra. */
export function readGoogleUsage(
  metadata: JsonValue | undefined,
  candidates: readonly JsonObject[],
): Usage | undefined {
  const facts = candidates.map(({ groundingMetadata }) => ({
    ...(groundingMetadata !== undefined && { grounding_metadata: groundingMetadata }),
  }))
  const counted = usageFromGoogle(metadata, searchesOf(facts))
  return readChatUsage(counted, counted?.service_tier)
}

export function candidatesOf(response: JsonObject): readonly JsonObject[] {
  return objectsIn(response, 'candidates')
}

export function isBlocked({ promptFeedback }: JsonObject): boolean {
  return isJsonObject(promptFeedback) && typeof promptFeedback.blockReason === 'string'
}

/** Parts of a candidate, or of a turn, that call a function. */
export function callsOf(owner: JsonObject): readonly JsonObject[] {
  const content = objectIn(owner, 'content') ?? owner
  return objectsIn(content, 'parts')
    .map((part) => objectIn(part, 'functionCall'))
    .filter((call) => call !== undefined)
}
