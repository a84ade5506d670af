import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../plugin/json.ts'
import type { StreamEvent } from '../plugin/stream.ts'
import { createChatStream } from './chat-stream.ts'
import { readChatReply } from './reply.ts'
import { decodeSse, encodeSse } from './sse.ts'

interface Call {
  id: string
  name: string
  arguments: string
}
interface Choice {
  content: string
  reasoning: string
  calls: Call[]
}

const usage = { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 }

const call = fc.record({ id: fc.uuid(), name: fc.string(), arguments: fc.string() })
const choice = fc.record({
  content: fc.string({ unit: 'grapheme' }),
  reasoning: fc.string({ unit: 'grapheme' }),
  calls: fc.uniqueArray(call, { maxLength: 3, selector: ({ id }) => id }),
})
const choices = fc.array(choice, { minLength: 1, maxLength: 3 })

function buffered(model: string, list: readonly Choice[]): JsonObject {
  return {
    model,
    choices: list.map(({ content, reasoning, calls }, index) => ({
      index,
      message: {
        content,
        reasoning,
        tool_calls: calls.map(({ id, ...fn }) => ({ id, function: fn })),
      },
      finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
    })),
    usage,
  }
}

/** The same reply as an upstream streams it: texts in pieces, one kind after the other. */
function streamed(list: readonly Choice[], size: number): string {
  const pieces = (text: string) => text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? []
  const chunks: JsonObject[] = []
  const send = (index: number, delta: JsonObject, finish: string | null = null) =>
    chunks.push({ choices: [{ index, delta, finish_reason: finish }] })
  for (const [index, { content, reasoning, calls }] of list.entries()) {
    send(index, { role: 'assistant', content: '' })
    for (const piece of pieces(reasoning)) send(index, { reasoning_content: piece })
    for (const piece of pieces(content)) send(index, { content: piece })
    for (const [k, { id, name, arguments: whole }] of calls.entries()) {
      send(index, { tool_calls: [{ index: k, id, function: { name, arguments: '' } }] })
      for (const piece of pieces(whole)) {
        send(index, { tool_calls: [{ index: k, function: { arguments: piece } }] })
      }
    }
    send(index, {}, calls.length > 0 ? 'tool_calls' : 'stop')
  }
  chunks.push({ choices: [], usage })
  const text = chunks.map((chunk) => encodeSse(JSON.stringify({ model: 'up', ...chunk })))
  return `${text.join('')}data: [DONE]\n\n`
}

interface Delta {
  content?: string
  reasoning?: string
  tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[]
}
interface Chunk {
  model: string
  choices: { index: number; delta: Delta; finish_reason: string | null }[]
  usage?: JsonObject
}

/** What a caller makes of the events: texts joined, calls by index, the last usage. */
function fold(events: readonly StreamEvent[]): JsonObject {
  const list: (Choice & { finish?: string })[] = []
  let model = ''
  let counted: JsonObject | undefined
  for (const event of events) {
    const chunk = JSON.parse(event.data) as Chunk
    model = chunk.model
    counted = chunk.usage ?? counted
    for (const { index, delta, finish_reason } of chunk.choices) {
      list[index] ??= { content: '', reasoning: '', calls: [] }
      const into = list[index]
      into.content += delta.content ?? ''
      into.reasoning += delta.reasoning ?? ''
      if (finish_reason !== null) into.finish = finish_reason
      for (const part of delta.tool_calls ?? []) {
        into.calls[part.index] ??= { id: part.id ?? '', name: '', arguments: '' }
        const known = into.calls[part.index] as Call
        known.name += part.function.name ?? ''
        known.arguments += part.function.arguments
      }
    }
  }
  const reply = buffered(model, list) as { choices: JsonObject[] } & JsonObject
  for (const [i, { finish }] of list.entries()) {
    Object.assign(reply.choices[i] as JsonObject, { finish_reason: finish ?? null })
  }
  return { ...reply, usage: counted }
}

test('a stream, cut anywhere and folded, is the buffered reply', async () => {
  await fc.assert(
    fc.asyncProperty(
      choices,
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.nat(5000), { maxLength: 40 }),
      async (list, size, cuts) => {
        const bytes = new TextEncoder().encode(streamed(list, size))
        async function* source() {
          let at = 0
          const inside = cuts.filter((cut) => cut < bytes.length)
          for (const cut of [...inside, bytes.length].sort((a, b) => a - b)) {
            yield bytes.subarray(at, cut)
            at = cut
          }
        }
        const stream = createChatStream({ publicModel: 'mine', native: true })
        const events: StreamEvent[] = []
        for await (const batch of decodeSse(source())) events.push(...stream.push(batch))
        stream.end()

        const reply = buffered('mine', list)
        expect(stream.outcome).toBe('complete')
        expect(fold(events)).toEqual(reply)
        const facts = readChatReply(reply)
        expect(stream.usage).toEqual(facts.usage)
        expect(stream.invokedToolCount).toBe(facts.invokedToolCount ?? -1)
      },
    ),
    { numRuns: 400 },
  )
})
