import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ReplyIdentity } from 'model-gateway/surface'
import { argumentsOf, said, textOf, toolInput, type Usage } from 'model-gateway/wire'
import { objectIn } from '../_shared/shape.ts'
import { usageMetadata } from '../_shared/usage.ts'

/**
 * Converts a chat completion to a GenerateContentResponse. The chat reply is valid: it has
 * `choices`.
 */
export function googleReply(
  reply: JsonObject,
  usage: Usage | undefined,
  identity: ReplyIdentity,
): JsonObject {
  const choices = Array.isArray(reply.choices) ? reply.choices.filter(isJsonObject) : []
  const candidates = choices.map((choice, position) => {
    const message = isJsonObject(choice.message) ? choice.message : {}
    const parts = [...partsOf(message), ...callsOf(message).map(callPart)]
    return candidate(choice.index ?? position, parts, choice.finish_reason)
  })
  return response(candidates, reply.id, usage, identity)
}

/** Members that whole and streamed responses share. */
export function response(
  candidates: readonly JsonObject[],
  id: JsonValue | undefined,
  usage: Usage | undefined,
  { publicModel, requestId }: ReplyIdentity,
): JsonObject {
  const counters = usageMetadata(usage)
  return {
    candidates: [...candidates],
    ...(counters && { usageMetadata: counters }),
    modelVersion: publicModel,
    responseId: said(id) ?? requestId,
  }
}

/** `finish`: absent if more follows. */
export function candidate(
  index: JsonValue,
  parts: readonly JsonObject[],
  finish?: JsonValue,
): JsonObject {
  return {
    content: { role: 'model', parts: [...parts] },
    ...(finish !== undefined && { finishReason: finishReason(finish) }),
    index,
  }
}

/** Thoughts, text and images of a message or delta. */
export function partsOf(message: JsonObject): JsonObject[] {
  const { reasoning, reasoning_content, reasoning_text } = message
  const thought = said(reasoning) ?? said(reasoning_content) ?? said(reasoning_text)
  const text = textOf(message)
  const images = Array.isArray(message.images) ? message.images.filter(isJsonObject) : []
  return [
    ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
    ...(text === '' ? [] : [{ text }]),
    ...images.flatMap(imagePart),
  ]
}

/** Generated images are data URLs. */
function imagePart(image: JsonObject): JsonObject[] {
  const url = said(objectIn(image, 'image_url')?.url)
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url ?? '') ?? []
  if (mimeType !== undefined && data !== undefined) return [{ inlineData: { mimeType, data } }]
  return url === undefined ? [] : [{ fileData: { fileUri: url } }]
}

export function callsOf({ tool_calls: calls }: JsonObject): readonly JsonObject[] {
  return Array.isArray(calls) ? calls.filter(isJsonObject) : []
}

/** A complete tool call of a chat. */
export function callPart(call: JsonObject): JsonObject {
  const fn = objectIn(call, 'function') ?? {}
  const id = said(call.id)
  const google = objectIn(objectIn(call, 'extra_content') ?? {}, 'google') ?? {}
  const signature = said(google.thought_signature)
  return {
    functionCall: {
      ...(id !== undefined && { id }),
      name: said(fn.name) ?? '',
      args: toolInput(argumentsOf(fn)),
    },
    ...(signature !== undefined && { thoughtSignature: signature }),
  }
}

function finishReason(finish: JsonValue): string {
  if (finish === 'length') return 'MAX_TOKENS'
  return finish === 'content_filter' ? 'SAFETY' : 'STOP'
}
