import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { type ProviderCall, upstreamHttpError } from 'model-gateway/provider'

/** What stands in every reply, whole or streamed. */
export interface About {
  readonly id: string
  readonly model: string
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The vendor's request for a chat call. Throws GatewayError for what the vendor cannot do. */
export function vendorRequest({ body, stream }: ProviderCall, model: string): JsonObject {
  const messages = Array.isArray(body.messages) ? body.messages : []
  const prompt = messages.map((message, index) => {
    const { role, content } = isJsonObject(message) ? message : {}
    if (typeof role !== 'string' || typeof content !== 'string') {
      throw new GatewayError('invalid_request', `messages.${index}: must be text`)
    }
    return { role, text: content }
  })
  const limit = body.max_completion_tokens ?? body.max_tokens
  return { model, prompt, stream, ...(typeof limit === 'number' && { max_tokens: limit }) }
}

/** A chat completion of the vendor's whole answer. */
export function completionOf(bytes: Uint8Array, about: About): JsonObject {
  const answer = parse(textOf(bytes))
  if (typeof answer.text !== 'string') throw malformed('there is no text in it')
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

/** The vendor's words without the key, which a vendor may repeat. */
export type Redact = (words: string) => string

/** The vendor's words for an error status. */
export function refusal(status: number, bytes: Uint8Array, redact: Redact): GatewayError {
  let words = `the vendor answered with status ${status}`
  try {
    const { error } = parse(textOf(bytes))
    if (typeof error === 'string') words = redact(error)
  } catch {
    // A page of a proxy in between; the status says enough.
  }
  return upstreamHttpError(status, words)
}

export function usageOf(counts: JsonValue | undefined): JsonObject {
  const { in: input, out: output } = isJsonObject(counts) ? counts : {}
  if (typeof input !== 'number' || typeof output !== 'number') {
    throw malformed('there are no counts in it')
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
