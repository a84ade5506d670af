import { describe, expect, test } from 'bun:test'
import type { GuardVerdict } from 'model-gateway/guardrail'
import type { ConfigLease } from 'model-gateway/host'
import type { JsonObject } from 'model-gateway/plugin'
import type { McpInvocationResult, McpVerdict } from './contract.ts'
import { incoming, servicesWith } from './proxy.fixture.ts'
import { createMcpProxy } from './proxy.ts'

const encoder = new TextEncoder()
const result = (text: string, id: unknown = 7): JsonObject => ({
  jsonrpc: '2.0',
  id: id as number,
  result: { content: [{ type: 'text', text }] },
})
const call = { id: 7, method: 'tools/call', params: { name: 'read' } }

interface Setting {
  /** The server’s reply in pieces; it breaks instead of ending if `breaks` is set. */
  readonly pieces: readonly Uint8Array[]
  readonly type?: string
  readonly breaks?: boolean
  /** No default. */
  readonly session?: string
  /** The verdict of a result guard; undefined without a guard. */
  readonly verdict?: GuardVerdict
  readonly method?: 'POST' | 'GET'
}

/** The row of a call, and the reply to its caller. */
async function rowOf(setting: Setting) {
  const { pieces, type = 'application/json', breaks, session, verdict, method = 'POST' } = setting
  const verdicts: McpVerdict[] = []
  const fates: (string | McpInvocationResult)[] = []
  const known = Promise.withResolvers<void>()
  let isGivenUp = false
  const handle = {
    openedAt: new Date(),
    judged: (it: McpVerdict) => void verdicts.push(it),
    leave() {
      fates.push('waits')
      known.resolve()
    },
    close(it: McpInvocationResult) {
      fates.push(it)
      known.resolve()
    },
  }
  const policy = verdict && {
    streamBufferBytes: 100_000,
    streamBufferTimeoutMs: 1000,
    covers: (phase: string) => phase === 'mcp_result',
    inspect: async () => verdict,
  }
  const rest = [...pieces]
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = rest.shift()
        if (piece !== undefined) controller.enqueue(piece)
        else if (breaks) controller.error(new Error('broken'))
        else controller.close()
      },
      cancel() {
        isGivenUp = true
      },
    },
    { highWaterMark: 0 },
  )
  const proxy = createMcpProxy({
    ...servicesWith(handle),
    lease: () => ({ guards: { forServer: () => policy }, release() {} }) as unknown as ConfigLease,
    send: async () => new Response(body, { headers: { 'content-type': type } }),
  })
  const reply = await proxy.handle({ ...incoming(call, session), method })
  const sent = await new Response(reply.body).bytes().catch(() => undefined)
  await known.promise
  return { status: reply.status, sent, verdicts, fates, isGivenUp, left: rest.length }
}

/** Cuts a text into pieces of so many bytes. */
function cut(text: string, size: number): Uint8Array[] {
  const bytes = encoder.encode(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )
}

const long = 'an ü and a 語 '.repeat(6_000)
const asEvent = (message: object, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`

test.each([
  ['as one', 'application/json', JSON.stringify(result('fine ü')), 1_000],
  ['cut within its characters', 'application/json', JSON.stringify(result(long)), 1_001],
  ['as events', 'text/event-stream', asEvent(result('fine ü')), 1_000],
  ['as events, cut within their characters', 'text/event-stream', asEvent(result(long)), 1_001],
])('an answer %s leaves its bytes and what it said', async (_, type, text, size) => {
  const { sent, fates } = await rowOf({ pieces: cut(text, size), type })
  expect(Buffer.from(sent ?? []).toString()).toBe(text)
  const { result: kept } = JSON.parse(text.replace(/^data: /, ''))
  expect(fates).toMatchObject([
    { status: 'success', responseBytes: Buffer.byteLength(text), result: kept },
  ])
})

test.each([
  ['an answer to another call', JSON.stringify(result('fine', 8))],
  ['an answer to another call, larger than what is read as one', JSON.stringify(result(long, 8))],
  ['nothing', ''],
])('%s leaves a call incomplete', async (_, text) => {
  expect((await rowOf({ pieces: cut(text, 1_000) })).fates).toMatchObject([
    { status: 'incomplete' },
  ])
})

test('a JSON body that breaks is not taken up again on another stream of the session', async () => {
  const pieces = cut(JSON.stringify(result(long)), 1_000)
  const { fates } = await rowOf({ pieces: pieces.slice(0, 80), breaks: true, session: 'session' })
  expect(fates).toMatchObject([{ status: 'upstream_error' }])
})

test('an event of more than 16 Mi characters is passed on and not looked into', async () => {
  const text = asEvent(result('x'.repeat(17 * 1024 * 1024)))
  const { sent, fates } = await rowOf({ pieces: cut(text, 1024 * 1024), type: 'text/event-stream' })
  expect(sent?.byteLength).toBe(text.length)
  expect(fates).toMatchObject([{ status: 'incomplete', responseBytes: text.length }])
})

describe('behind a guard of results', () => {
  const allow: GuardVerdict = { action: 'allow' }

  test.each([
    [allow, { policyResult: 'allowed' }],
    [
      { ...allow, decisionId: 'd1' },
      { policyResult: 'allowed', guardrailDecisionId: 'd1' },
    ],
  ])('a verdict is kept with its decision, if there is one: %j', async (verdict, kept) => {
    const { verdicts } = await rowOf({
      pieces: cut(JSON.stringify(result('fine')), 1_000),
      verdict,
    })
    expect(verdicts).toEqual([kept as McpVerdict])
  })

  test.each(['', JSON.stringify(result('fine', 8))])(
    'a reply without the answer leaves a call incomplete: %j',
    async (text) => {
      const { status, fates } = await rowOf({ pieces: cut(text, 1_000), verdict: allow })
      expect(status).toBe(200)
      expect(fates).toMatchObject([{ status: 'incomplete' }])
    },
  )

  test('events come as they are, wherever they are cut', async () => {
    const text = asEvent(result('übel 語'))
    for (let size = 1; size < 12; size++) {
      const { status, sent } = await rowOf({
        pieces: cut(text, size),
        type: 'text/event-stream',
        verdict: allow,
      })
      expect([status, Buffer.from(sent ?? []).toString()]).toEqual([200, text])
    }
  })

  test('events after the response are not waited for', async () => {
    const pieces = [asEvent(result('fine')), ': more\n\n'].map((text) => encoder.encode(text))
    const { isGivenUp, left } = await rowOf({ pieces, type: 'text/event-stream', verdict: allow })
    expect({ isGivenUp, left }).toEqual({ isGivenUp: true, left: 1 })
  })

  test.each([
    ['one guard', allow, [{ policyResult: 'allowed' }]],
    ['no guard', undefined, []],
  ])('an answer on another stream has been judged by %s', async (_, verdict, verdicts) => {
    const row = await rowOf({
      pieces: cut(asEvent(result('late')), 1_000),
      type: 'text/event-stream',
      method: 'GET',
      session: 'session',
      ...(verdict && { verdict }),
    })
    expect(row.fates).toMatchObject([{ status: 'success' }])
    expect(row.verdicts).toEqual(verdicts as McpVerdict[])
  })
})
