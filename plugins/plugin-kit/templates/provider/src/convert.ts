import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { type ProviderCall, upstreamHttpError } from 'model-gateway/provider'

/** Members of every reply, whole or streamed. */
export interface About {
  readonly id: string
  readonly model: string
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The vendor's request for a chat call. Throws GatewayError for content that the vendor does not
 * support.
 */
export function vendorRequest({ body, stream }: ProviderCall, model: string): JsonObject {
  const messages = Array.isArray(body.messages) ? body.messages : []
  const prompt = messages.map((message, index) => {
    const { role, content } = isJsonObject(message) ? message : {}
    if (typeof role !== 'string' || typeof content !== 'string') {
      throw new GatewayError(
        'invalid_request',
        `messages.${index}: role and content must be strings`,
      )
    }
    return { role, text: content }
  })
  const limit = body.max_completion_tokens ?? body.max_tokens
  return { model, prompt, stream, ...(typeof limit === 'number' && { max_tokens: limit }) }
}

/** The vendor's whole answer as a chat completion. */
export function completionOf(bytes: Uint8Array, about: About): JsonObject {
  const answer = parse(textOf(bytes))
  if (typeof answer.text !== 'string') throw malformed('text is missing')
  return {
    ...about,
    object: 'chat.completion',
    created: now(),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: answer.text },
        finish_reason: finishOf(answer.finish),
      },
    ],
    usage: usageOf(answer.counts),
  }
}

/** Removes the API key from the vendor's error text, because vendors may repeat it. */
export type Redact = (words: string) => string

/** The error for a status other than 200, with the vendor's error text. */
export function refusal(status: number, bytes: Uint8Array, redact: Redact): GatewayError {
  let words = `the vendor answered with status ${status}`
  try {
    const { error } = parse(textOf(bytes))
    if (typeof error === 'string') words = redact(error)
  } catch {
    // Not the vendor's JSON, such as the page of a proxy. The status is enough.
  }
  return upstreamHttpError(status, words)
}

export function usageOf(counts: JsonValue | undefined): JsonObject {
  const { in: input, out: output } = isJsonObject(counts) ? counts : {}
  if (typeof input !== 'number' || typeof output !== 'number') {
    throw malformed('counts are missing')
  }
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

export function finishOf(finish: JsonValue | undefined): string {
  return finish === 'limit' ? 'length' : 'stop'
}

/** A JSON object that the vendor sent. */
export function parse(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw malformed('it is not JSON', cause)
  }
  if (!isJsonObject(value)) throw malformed('it is not an object')
  return value
}

export function malformed(why: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_transport', `the vendor's answer cannot be read: ${why}`, {
    cause,
  })
}

export function now(): number {
  return Math.floor(Date.now() / 1000)
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw malformed('it is not UTF-8', cause)
  }
}
