import { createHash } from 'node:crypto'
import type { ContentBlock, ToolUseBlock } from './chat-content.ts'
import type { Turn } from './chat-conversation.ts'

/** The text of a user turn that a conversation needs but does not have. */
export const NOTHING_SAID = '(continued)'

/** The tool name for a result whose call is missing. */
export const UNKNOWN_TOOL = 'unknown_tool'

/** The result for a call without one: the client stopped waiting, or truncated the conversation. */
export const NO_RESULT = 'The result of this call is not known.'

/**
 * Turns for services with strict conversations: the user begins, roles alternate, turns are not
 * empty, each tool call has a result at the start of the next turn, each result has a call, and a
 * last assistant text does not end in white space.
 */
export function strictTurns(turns: readonly Turn[]): Turn[] {
  const alternating = mergeTurns(turns)
  const merged = alternating.some(mentionsTools)
    ? mergeTurns(pairResults(alternating))
    : alternating
  const [first] = merged
  if (first?.role === 'assistant') {
    const block = { kind: 'text', text: NOTHING_SAID, place: 'messages' } as const
    merged.unshift({ role: 'user', blocks: [block], bare: true })
  }
  return withoutTrailingSpace(merged)
}

function mentionsTools({ blocks }: Turn): boolean {
  return blocks.some(({ kind }) => kind === 'tool_use' || kind === 'tool_result')
}

/** Calls as sent, and the blocks of the turn with their results. */
interface OpenCall {
  readonly call: ToolUseBlock
  readonly answers: ContentBlock[]
}

/** Moves results behind their calls, and adds missing results and calls. */
function pairResults(turns: readonly Turn[]): Turn[] {
  const paired: Turn[] = []
  const unique = createUniqueIds()
  /** Calls without a result so far, by id in the conversation. */
  const open = new Map<string, OpenCall[]>()
  for (const turn of turns) {
    if (turn.role === 'assistant') {
      const answers: ContentBlock[] = []
      const blocks = turn.blocks.map((block) => {
        if (block.kind !== 'tool_use') return block
        const id = unique(block.id)
        const call = id === block.id ? block : { ...block, id }
        open.set(block.id, [...(open.get(block.id) ?? []), { call, answers }])
        return call
      })
      paired.push({ ...turn, blocks }, user(answers))
      continue
    }
    const lost: OpenCall[] = []
    const rest: ContentBlock[] = []
    for (const block of turn.blocks) {
      if (block.kind !== 'tool_result') {
        rest.push(block)
        continue
      }
      const { toolCallId, place } = block
      let asked = open.get(toolCallId)?.shift()
      if (asked === undefined) {
        const id = unique(toolCallId)
        const at = `${place}.call`
        const call = { kind: 'tool_use', id, name: UNKNOWN_TOOL, input: {}, place: at } as const
        asked = { call, answers: [] }
        lost.push(asked)
      }
      const { id } = asked.call
      asked.answers.push(id === toolCallId ? block : { ...block, toolCallId: id })
    }
    if (lost.length > 0) {
      const calls = lost.map(({ call }) => call)
      const answers = lost.flatMap((each) => each.answers)
      paired.push({ role: 'assistant', blocks: calls, bare: false }, user(answers))
    }
    paired.push(rest.length === turn.blocks.length ? turn : user(rest))
  }
  for (const { call, answers } of [...open.values()].flat()) {
    const place = `${call.place}.result`
    const toolCallId = call.id
    answers.push({ kind: 'tool_result', toolCallId, content: NO_RESULT, failed: true, place })
  }
  return paired
}

/** Ids must be unique, but some models restart their numbering in each turn. */
export function createUniqueIds(): (id: string) => string {
  const used = new Map<string, number>()
  return (id) => {
    const times = used.get(id) ?? 0
    used.set(id, times + 1)
    return times === 0 ? id : hashedId(`${id}#${times}`)
  }
}

/** An id that each wire format accepts, derived from one that some refuse. */
export function hashedId(id: string): string {
  return `tool_${createHash('sha256').update(id).digest('base64url')}`
}

function user(blocks: readonly ContentBlock[]): Turn {
  return { role: 'user', blocks, bare: false }
}

function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = []
  for (const turn of turns) {
    const last = merged.at(-1)
    if (turn.blocks.length === 0) continue
    if (last?.role !== turn.role) merged.push(turn)
    else merged[merged.length - 1] = joined(last, turn)
  }
  return merged
}

function joined({ role, blocks }: Turn, { blocks: more }: Turn): Turn {
  return { role, blocks: [...blocks, ...more], bare: false }
}

/** Required, because "final assistant content cannot end with trailing whitespace". */
function withoutTrailingSpace(turns: Turn[]): Turn[] {
  const last = turns.at(-1)
  const block = last?.blocks.at(-1)
  if (last?.role !== 'assistant' || block?.kind !== 'text') return turns
  const blocks = [...last.blocks.slice(0, -1), { ...block, text: block.text.trimEnd() }]
  return [...turns.slice(0, -1), { ...last, blocks }]
}
