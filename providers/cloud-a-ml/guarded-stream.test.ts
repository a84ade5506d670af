/** What a guarded stream costs that the gateway breaks off. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
} from '../../test/harness/gateway.ts'
import { startGoogleCloud } from '../../test/harness/upstream-clouds-google.ts'
import { eventStream } from './testing.ts'

const cloud = startGoogleCloud()
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway({
    accounting: { abort_drain_secs: 0.1 },
    providers: [
      {
        id: 'vertex',
        type: 'vertex_ai',
        project_id: 'demo-project',
        api_host: cloud.url,
        auth: { mode: 'service_account', credentials_file: cloud.serviceAccountFile() },
      },
    ],
    models: [
      { id: 'm', routes: [{ provider: 'vertex', upstream_model: 'google/gemini-2.5-flash' }] },
    ],
    guardrails: {
      default: { enabled: true, mode: 'deny', packs: ['core.shell'], stream_buffer_bytes: 4096 },
    },
  })
})
afterAll(async () => {
  await gateway?.stop()
  await cloud.stop()
})

/** Events for as long as somebody reads them, each with what has been counted so far. */
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
  const row = await eventually(async () => {
    const [found] = await gateway.sql`
      select pricing_status, prompt_tokens::int as prompt, completion_tokens::int as completion
      from accounting.usage_cost_events where request_id = ${requestId}`
    return found
  })
  expect(row).toMatchObject({ pricing_status: 'legacy_estimated', prompt: 10 })
  expect(row.completion).toBeGreaterThan(1)
})
