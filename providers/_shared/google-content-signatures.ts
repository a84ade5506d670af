import { isJsonObject, type JsonObject } from 'model-gateway/plugin'

/**
 * Replaces a lost signature: the service skips the check for this value
 * (ai.google.dev/gemini-api/docs/thought-signatures).
 */
const SKIP_SIGNATURE = 'skip_thought_signature_validator'

/** The signature of a call, message or image: at Google's place or under our name. */
export function signatureOf(owner: JsonObject): string | undefined {
  const { extra_content: extra } = owner
  const google = isJsonObject(extra) && isJsonObject(extra.google) ? extra.google : {}
  const stated = [google.thought_signature, owner.thought_signature, owner.thoughtSignature]
  return stated.find((value): value is string => typeof value === 'string' && value !== '')
}

/**
 * Signs the first unsigned call of each step since the last user message, because only those are
 * checked.
 */
export function signHistory(
  contents: readonly { readonly role: string; readonly parts: JsonObject[] }[],
): void {
  const spoke = contents.findLastIndex(
    ({ role, parts }) => role === 'user' && !parts.some((part) => part.functionResponse),
  )
  for (const { parts } of contents.slice(spoke + 1)) {
    const first = parts.find((part) => part.functionCall !== undefined)
    if (first !== undefined) first.thoughtSignature ??= SKIP_SIGNATURE
  }
}
