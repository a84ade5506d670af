import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { OWN_THINKING, parseObject, said, UNSIGNED } from 'model-gateway/wire'

/** A piece of a model's thinking. */
export type Thought =
  | { readonly kind: 'text'; readonly text: string }
  /** The end of a block. */
  | { readonly kind: 'signature'; readonly signature: string }
  | { readonly kind: 'redacted'; readonly data: string }

/** Sources of thinking that Claude has signed; its API refuses other signatures. */
const CLAUDE = /^(?:anthropic_messages|unified)/

/** The thinking of a chat message or delta, under each of its names. */
export function thoughtsOf(message: JsonObject): Thought[] {
  const kept = isJsonObject(message.provider_metadata) ? message.provider_metadata : {}
  const thoughts = Object.entries(kept).flatMap(([type, own]) => {
    const reasoning = isJsonObject(own) ? own.reasoning : undefined
    if (!isJsonObject(reasoning) || !Array.isArray(reasoning.blocks)) return []
    if (reasoning.blocks.some(isEncrypted)) {
      return [{ kind: 'redacted', data: sealed({ [type]: { reasoning } }) } as const]
    }
    const isSigned = CLAUDE.test(String(reasoning.source))
    return reasoning.blocks.flatMap((block) => piecesOf(block, isSigned))
  })
  if (thoughts.some(({ kind }) => kind === 'text')) return thoughts
  const { reasoning, reasoning_content, reasoning_text } = message
  const text = said(reasoning) ?? said(reasoning_content) ?? said(reasoning_text)
  return text === undefined ? thoughts : [{ kind: 'text', text }, ...thoughts]
}

/** Thinking that only the upstream can read, to be sent back to it. */
function isEncrypted(block: JsonValue): boolean {
  return isJsonObject(block) && said(block.encrypted_content) !== undefined
}

/** `provider_metadata` of a reply, encoded as the data of redacted thinking. */
function sealed(metadata: JsonObject): string {
  return OWN_THINKING + Buffer.from(JSON.stringify(metadata)).toString('base64')
}

/** Decodes it; undefined for data that a gateway did not encode. */
export function unsealed(data: JsonValue | undefined): JsonObject | undefined {
  if (typeof data !== 'string' || !data.startsWith(OWN_THINKING)) return undefined
  return parseObject(Buffer.from(data.slice(OWN_THINKING.length), 'base64').toString())
}

function piecesOf(block: JsonValue, isSigned: boolean): Thought[] {
  if (!isJsonObject(block)) return []
  const text = said(block.thinking) ?? said(block.text)
  const signature = isSigned ? said(block.signature) : undefined
  const data = said(block.data)
  return [
    ...(text === undefined ? [] : [{ kind: 'text', text } as const]),
    ...(signature === undefined ? [] : [{ kind: 'signature', signature } as const]),
    ...(data === undefined ? [] : [{ kind: 'redacted', data } as const]),
  ]
}

/** The same as blocks of a message. */
export function thinkingBlocks(message: JsonObject): JsonObject[] {
  const blocks: JsonObject[] = []
  let open: JsonObject | undefined
  for (const thought of thoughtsOf(message)) {
    if (thought.kind === 'redacted') {
      blocks.push({ type: 'redacted_thinking', data: thought.data })
      open = undefined
      continue
    }
    const before = open ?? { type: 'thinking', thinking: '', signature: UNSIGNED }
    if (open !== undefined) blocks.pop()
    const block: JsonObject =
      thought.kind === 'text'
        ? { ...before, thinking: `${before.thinking}${thought.text}` }
        : { ...before, signature: thought.signature }
    blocks.push(block)
    open = thought.kind === 'text' ? block : undefined
  }
  return blocks
}
