/** What an event of a binary stream costs beside one of a compatible stream. */
import { expect, test } from 'bun:test'
import { decodeSse, type StreamEvent } from 'model-gateway/wire'
import { createChatStream } from '../../../kernel/wire/chat-stream.ts'
import { sseText } from '../../../kernel/wire/dialect-stream.ts'
import { decodeEventStream } from '../../../providers/_shared/event-stream.ts'
import { createToolNames, NAMES_OF_64 } from '../../../providers/_shared/tool-names.ts'
import { chatChunksFromUnified } from '../../../providers/cloud-b-ml/unified-stream.ts'
import { chatFrames } from '../../harness/upstream.ts'
import { converseFrames } from '../../harness/upstream-clouds-aws.ts'

const EVENTS = 1000
/** Events that arrive together. */
const TOGETHER = 4
const ROUNDS = 40

const pieces = Array.from({ length: EVENTS }, (_, index) => ` word${index}`)
const asked = { model: 'theirs', stream_options: { include_usage: true } }
const usage = { inputTokens: 24, outputTokens: 17, totalTokens: 41 }
const compat = inChunks(chatFrames(asked, { pieces }).map((frame) => Buffer.from(frame)))
const said = { blocks: [{ kind: 'text' as const, pieces }], stopReason: 'end_turn', usage }
const binary = inChunks(converseFrames(said))
const call = { surface: 'chat_completions', body: { model: 'mine' }, requestId: 'r' }
const facts = { id: 'chatcmpl-1', model: 'theirs', names: createToolNames(NAMES_OF_64) }

function inChunks(frames: readonly Uint8Array[]): Buffer[] {
  return Array.from({ length: Math.ceil(frames.length / TOGETHER) }, (_, index) =>
    Buffer.concat(frames.slice(index * TOGETHER, (index + 1) * TOGETHER)),
  )
}

async function* source(chunks: readonly Buffer[]) {
  yield* chunks
}

/** Microseconds an event, from the upstream's bytes to the caller's text. */
async function cost(events: AsyncIterable<readonly StreamEvent[]>): Promise<number> {
  const startedAt = performance.now()
  const stream = createChatStream({ publicModel: 'mine', native: true })
  let sent = 0
  for await (const batch of events) sent += sseText(stream.push(batch)).length
  stream.end()
  expect(stream.outcome).toBe('complete')
  expect(sent).toBeGreaterThan(EVENTS * 100)
  return ((performance.now() - startedAt) * 1000) / EVENTS
}

const seams = { unknownEvent: () => {}, redact: (text: string) => text }

test('a Converse stream costs at most twice a compatible one, event by event', async () => {
  const ofCompat: number[] = []
  const ofBinary: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    ofCompat.push(await cost(decodeSse(source(compat))))
    const frames = decodeEventStream(source(binary), () => {})
    ofBinary.push(await cost(chatChunksFromUnified(frames, call, facts, seams)))
  }
  // The best of many: on a busy machine the others measure their neighbours.
  const [c, b] = [Math.min(...ofCompat), Math.min(...ofBinary)]
  console.log(
    `µs an event: ${c.toFixed(2)} compatible, ${b.toFixed(2)} Converse, ratio ${(b / c).toFixed(2)}`,
  )
  expect(b / c).toBeLessThan(2)
})
