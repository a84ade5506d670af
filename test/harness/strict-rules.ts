/** What the rules of all strict services are written with. */
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/** A request that a service does not take, in the words of the service. */
export class Refused extends Error {
  readonly status: number
  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

export function fail(message: string, status = 400): never {
  throw new Refused(message, status)
}

/** The refusal that a check ends with; undefined for a good request. */
export function refusedBy(check: () => void): Refused | undefined {
  try {
    check()
  } catch (error) {
    if (error instanceof Refused) return error
    throw error
  }
}

/** What a block says of a call of a tool: that it is made, or what came of it. */
export interface ToolMention {
  readonly call?: JsonValue | undefined
  readonly result?: JsonValue | undefined
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

/**
 * Checks calls and results: each result answers a call of the turn right before it, and
 * each call of an earlier turn has one. (strands-agents/harness-sdk#4154, earendil-works/pi#707)
 */
export function checkPairs(
  turns: readonly JsonObject[],
  read: (block: JsonObject) => ToolMention | undefined,
): void {
  const mentions = turns.map(({ content }) =>
    listOf(content).flatMap((block) => (isJsonObject(block) ? (read(block) ?? []) : [])),
  )
  const all = mentions.flatMap((list) => list.flatMap(({ call }) => call ?? []))
  if (new Set(all).size < all.length) fail('messages: `tool_use` ids must be unique')
  for (const [i, list] of mentions.entries()) {
    const asked = (mentions[i - 1] ?? []).flatMap(({ call }) => call ?? [])
    const answered = list.flatMap(({ result }) => result ?? [])
    const lost = answered.find((id) => !asked.includes(id))
    if (lost !== undefined) {
      fail(`messages.${i}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${lost}`)
    }
    const open = asked.filter((id) => !answered.includes(id))
    if (open.length > 0) {
      fail(
        `Expected toolResult blocks at messages.${i}.content for the following Ids: ${open.join(', ')}`,
      )
    }
  }
  if ((mentions.at(-1) ?? []).some(({ call }) => call !== undefined)) {
    fail('messages: `tool_use` ids were found without `tool_result` blocks')
  }
}
