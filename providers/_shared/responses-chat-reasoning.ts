import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { isCall } from './responses-chat-pairs.ts'

/** Where a reply keeps what the model thought; of a stream with `_stream` behind it. */
const SOURCE = 'openai_responses'

/** A block's place for what the assistant said; others are ids of calls. */
const BEFORE_MESSAGE = 'message'

/**
 * What a call takes along of what the model thought: what the history has kept of earlier turns, only
 * what it thinks from now on, or nothing.
 */
export type Memory = 'whole' | 'from now on' | 'none'

/** What a turn of the history has kept. */
export interface Preserved {
  /** Reasoning items, by what they stand before: the text, or the call of this id. */
  readonly reasoning: ReadonlyMap<string, readonly JsonObject[]>
  /** Whether the text was a comment or the answer, in the words of the service. */
  readonly phase: string | undefined
}

export const NOTHING_KEPT: Preserved = { reasoning: new Map(), phase: undefined }

/**
 * `provider_metadata.<type>.reasoning` of a reply: its reasoning items as they came, each with the item
 * that it stands `before`; undefined when there is nothing to keep.
 */
export function preserve(output: readonly JsonObject[], streamed: boolean): JsonObject | undefined {
  const blocks = output.flatMap((item, at) => {
    if (item.type !== 'reasoning') return []
    const next = output.slice(at + 1).find((other) => other.type === 'message' || isCall(other))
    const before = next?.type === 'message' ? BEFORE_MESSAGE : next?.call_id
    return [before === undefined ? item : { ...item, before }]
  })
  const phases = output.map(({ type, phase }) => (type === 'message' ? phase : undefined))
  const phase = phases.findLast((one) => typeof one === 'string')
  if (blocks.length === 0 && phase === undefined) return undefined
  const source = streamed ? `${SOURCE}_stream` : SOURCE
  return { source, ...(phase !== undefined && { phase }), blocks }
}

/** What an assistant's message of the history has of that. */
export function preservedIn({ provider_metadata: metadata }: JsonObject): Preserved {
  const reasoning = new Map<string, JsonObject[]>()
  let phase: string | undefined
  for (const own of isJsonObject(metadata) ? Object.values(metadata) : []) {
    const kept = isJsonObject(own) ? own.reasoning : undefined
    if (!isJsonObject(kept) || !String(kept.source).startsWith(SOURCE)) continue
    if (typeof kept.phase === 'string') phase = kept.phase
    for (const block of Array.isArray(kept.blocks) ? kept.blocks : []) {
      const item = isJsonObject(block) ? replayed(block) : undefined
      if (item === undefined) continue
      const before = String((block as JsonObject).before)
      reasoning.set(before, [...(reasoning.get(before) ?? []), item])
    }
  }
  return { reasoning, phase }
}

/**
 * The item as it is sent again; undefined for one that tells the service nothing. "Items are not
 * persisted when `store` is set to false": without its content an id is looked up in vain.
 */
function replayed(block: JsonObject): JsonObject | undefined {
  const { type, before: _, status: __, id, summary, content, encrypted_content, ...rest } = block
  const isEncrypted = typeof encrypted_content === 'string' && encrypted_content !== ''
  const texts: JsonValue[] = Array.isArray(content) ? content : []
  if (type !== 'reasoning' || (!isEncrypted && texts.length === 0)) return undefined
  return {
    ...rest,
    type,
    // Others are the gateway's own, for an item that came without one.
    ...(typeof id === 'string' && id.startsWith('rs_') && { id }),
    summary: Array.isArray(summary) ? summary : [],
    ...(texts.length > 0 && { content: texts }),
    ...(isEncrypted && { encrypted_content }),
  }
}
