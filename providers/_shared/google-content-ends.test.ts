/** When a Google stream is over: what must have come, and what does not matter any more. */
import { expect, test } from 'bun:test'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'
import { chatChunksFromGoogle } from './google-content-stream.ts'
import { createToolNames, GOOGLE_NAMES } from './tool-names.ts'

const names = createToolNames(GOOGLE_NAMES)

const call = { surface: 'chat_completions', body: { model: 'asked' }, requestId: 'req-1' }
const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 4 }
const said = (index: number, text: string, finishReason?: string): JsonObject => ({
  index,
  content: { parts: [{ text }] },
  ...(finishReason === undefined ? {} : { finishReason }),
})

async function* source(responses: readonly JsonObject[], error?: Error) {
  for (const response of responses) yield [streamEvent(JSON.stringify(response))]
  if (error !== undefined) throw error
}

async function collect(responses: AsyncIterable<readonly StreamEvent[]>): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const batch of chatChunksFromGoogle(responses, call, names)) events.push(...batch)
  return events
}

test('the end of a choice does not end the others', async () => {
  const events = await collect(
    source([
      { candidates: [said(0, 'a', 'STOP'), said(1, 'b')], usageMetadata },
      { candidates: [said(1, 'c', 'MAX_TOKENS')], usageMetadata },
    ]),
  )
  const text = events.map(({ data }) => data).join('\n')
  expect(text).toContain('"content":"c"')
  expect(text).toContain('{"index":1,"delta":{},"finish_reason":"length"}')
  expect(events.at(-1)?.data).toBe('[DONE]')
})

test('a connection error after the end changes nothing', async () => {
  const broke = new GatewayError('upstream_transport', 'broke')
  const whole = [{ candidates: [said(0, 'a', 'STOP')], usageMetadata }]
  const events = await collect(source(whole, broke))
  expect(events.at(-1)?.data).toBe('[DONE]')
  await expect(collect(source([{ candidates: [said(0, 'a')] }], broke))).rejects.toBe(broke)
})

test('a response in mid-stream without a finish reason ends nothing', async () => {
  const events = await collect(
    source([
      { candidates: [said(0, 'a', 'FINISH_REASON_UNSPECIFIED')], usageMetadata },
      { candidates: [said(0, 'b', '')], usageMetadata },
      { candidates: [said(0, 'c', 'STOP')], usageMetadata },
    ]),
  )
  const text = events.map(({ data }) => data).join('\n')
  expect(text).toContain('"content":"c"')
  expect(text.match(/"finish_reason":"stop"/g)).toHaveLength(1)
})

test('the first finish reason and the last usage apply', async () => {
  const events = await collect(
    source([
      { candidates: [said(0, 'a', 'MAX_TOKENS'), said(1, 'b')], usageMetadata },
      { candidates: [{ index: 0, finishReason: 'STOP' }, said(1, 'c', 'STOP')] },
    ]),
  )
  const chunks = events.slice(0, -1).map(({ data }) => JSON.parse(data))
  const reasons = chunks.flatMap(({ choices }) => choices).filter((one) => one.finish_reason)
  expect(reasons.map((one) => one.finish_reason)).toEqual(['length', 'stop'])
  const counted = chunks.filter(({ usage }) => usage !== undefined)
  expect(counted).toEqual([chunks.at(-1)])
  expect(counted[0].usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 4 })
})
