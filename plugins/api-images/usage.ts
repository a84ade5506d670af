import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { responsesDialect, type Usage } from 'model-gateway/wire'

/**
 * Usage of images: number, quality and size, and tokens if the reply counts them; output tokens are
 * image tokens unless stated otherwise. `body` is a reply, or an event that contains one.
 */
export function imagesUsage(body: JsonObject, pictures: number): Usage | undefined {
  const tokens = tokensOf(body.usage)
  const variant = (['quality', 'size'] as const).flatMap((name) => {
    const value = body[name]
    return isUnusual(value) ? [`${name}=${value.toLowerCase()}`] : []
  })
  if (tokens === undefined && pictures === 0) return undefined
  return {
    ...(tokens ?? NOTHING),
    ...(pictures > 0 && { uses: { ...tokens?.uses, image: pictures } }),
    ...(variant.length > 0 && { tier: [tokens?.tier ?? [], variant].flat().join('+') }),
  }
}

function tokensOf(stated: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(stated)) return undefined
  const { usage } = responsesDialect.readReply({ output: [], usage: stated })
  if (usage?.output === undefined || isJsonObject(stated.output_tokens_details)) return usage
  return { ...usage, parts: { ...usage.parts, output_image: usage.output } }
}

/** Names with `+` or `=` would be parsed as several. */
function isUnusual(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && /^[\w:-]{1,40}$/.test(value) && !USUAL.has(value)
}

const USUAL: ReadonlySet<string> = new Set(['auto', 'standard', 'default'])

const NOTHING: Usage = {
  uncachedInput: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: undefined,
  reasoning: undefined,
  promptTokens: undefined,
  totalTokens: undefined,
}
