/** The cost of a guarded stream that the gateway aborts. */

import { afterAll, expect, test } from 'bun:test'
import { adaKey } from '../../test/harness/gateway.ts'
import { eventStream, startVertexGateway } from './testing.ts'

const vertex = await startVertexGateway(
  { m: { upstream_model: 'google/gemini-2.5-flash' } },
  {
    accounting: { abort_drain_secs: 0.1 },
    guardrails: {
      default: { enabled: true, mode: 'deny', packs: ['core.shell'], stream_buffer_bytes: 4096 },
    },
  },
)
const { cloud, gateway } = vertex
afterAll(vertex.stop)

/** Events as long as they are read, each with the usage so far. */
function counting(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  let candidatesTokenCount = 0
  return new ReadableStream({
    async pull(to) {
      await Bun.sleep(20)
      candidatesTokenCount++
      const usageMetadata = { promptTokenCount: 10, candidatesTokenCount }
      const event = { candidates: [{ content: { parts: [{ text }] } }], usageMetadata }
      to.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\r\n\r\n`))
    },
  })
}

test.each([
  ['that its caller leaves', 'a', 300],
  ['that is too large', 'a'.repeat(1000), 10_000],
])('a stream %s is charged by what was counted last', async (name, text, staysMs) => {
  cloud.answer = () => eventStream(counting(text))
  const requestId = name.replaceAll(' ', '-')
  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}`, 'x-request-id': requestId },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    signal: AbortSignal.timeout(staysMs),
  }).catch(() => {})
  const row = await vertex.ledgerRow(requestId)
  expect(row).toMatchObject({ pricing_status: 'legacy_estimated', prompt: 10 })
  expect(row?.completion).toBeGreaterThan(1)
})
