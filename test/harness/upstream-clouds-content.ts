/** What Vertex AI says on the wire in its own shapes: Google content and embeddings. */
import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { argumentsOf, type Said, type SaidBlock } from './upstream-clouds-messages.ts'

/** Reply of generateContent. */
export function contentReply(said: Said): JsonObject {
  return contentEvent(said, said.blocks.map(part), true)
}

/** The same as the events of streamGenerateContent with `alt=sse`; the counters come last. */
export function contentFrames(said: Said): string[] {
  const parts = said.blocks.flatMap(pieces)
  return parts.map((one, index) => {
    const event = contentEvent(said, [one], index === parts.length - 1)
    return `data: ${JSON.stringify(event)}\r\n\r\n`
  })
}

/** The same as the one JSON array that comes without `alt=sse`. */
export function contentArray(said: Said): string[] {
  const events = contentFrames(said).map((frame) => frame.slice('data: '.length).trim())
  return events.map((event, index) => `${index === 0 ? '[' : ',\r\n'}${event}\n`).concat(']')
}

function contentEvent(
  { stopReason, usage, turn = '' }: Said,
  parts: JsonObject[],
  isLast: boolean,
): JsonObject {
  return {
    candidates: [
      {
        content: { role: 'model', parts },
        ...(isLast && { finishReason: stopReason }),
        index: 0,
      },
    ],
    ...(isLast && { usageMetadata: usage }),
    modelVersion: 'gemini-2.5-flash',
    createTime: '2026-09-24T08:00:02.000001Z',
    responseId: `id-content-1${turn}`,
  }
}

function part(block: SaidBlock): JsonObject {
  switch (block.kind) {
    case 'text':
      return { text: block.pieces.join('') }
    case 'thinking':
      return { text: block.pieces.join(''), thought: true, thoughtSignature: block.signature }
    case 'redacted':
      return { text: '', thoughtSignature: block.data }
    case 'tool': {
      const { id, name, pieces } = block
      return { functionCall: { id, name, args: argumentsOf(pieces) } }
    }
  }
}

/** Texts come in pieces; a call comes whole. */
function pieces(block: SaidBlock): JsonObject[] {
  if (block.kind === 'text') return block.pieces.map((text) => ({ text }))
  if (block.kind !== 'thinking') return [part(block)]
  return block.pieces.map((text, index) => ({
    text,
    thought: true,
    ...(index === block.pieces.length - 1 ? { thoughtSignature: block.signature } : {}),
  }))
}

/** Reply of predict or embedContent: one short vector and seven tokens for each text. */
export function embeddingsReply(request: JsonObject): JsonObject {
  const values = [0.25, -0.5, 0.125]
  if (isJsonObject(request.content)) {
    const usageMetadata = { promptTokenCount: 7, totalTokenCount: 7 }
    return { embedding: { values }, usageMetadata, truncated: false }
  }
  if (Array.isArray(request.requests)) {
    const { length } = request.requests
    const usageMetadata = { promptTokenCount: 7 * length }
    return { embeddings: Array.from({ length }, () => ({ values })), usageMetadata }
  }
  const instances = Array.isArray(request.instances) ? request.instances : []
  const statistics = { token_count: 7, truncated: false }
  return { predictions: instances.map(() => ({ embeddings: { values, statistics } })) }
}
