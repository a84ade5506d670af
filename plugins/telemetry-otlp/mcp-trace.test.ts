import { expect, test } from 'bun:test'
import { createMcpTracing } from './mcp-trace.ts'

interface Span {
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
}

test('a span has the duration of the request, even if the clock is changed meanwhile', async () => {
  for (const setBy of [-3_600_000, 0, 3_600_000]) {
    const spans: string[] = []
    const traced = createMcpTracing({ sampleRatio: 1, add: (span) => spans.push(span) })({
      method: 'POST',
      receivedAt: new Date(Date.now() + setBy),
      requestId: 'r',
      header: () => null,
    })
    await Bun.sleep(20)
    traced.finished({ statusCode: 200 })
    const { startTimeUnixNano, endTimeUnixNano } = JSON.parse(spans[0] ?? '') as Span
    const ms = Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1e6
    expect(ms).toBeGreaterThanOrEqual(15)
    expect(ms).toBeLessThan(2000)
  }
})
