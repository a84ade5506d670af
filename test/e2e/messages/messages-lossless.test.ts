/** Calls of the messages API on routes that speak it: what goes in comes out, in both directions. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'

/** An upstream that keeps what it gets, and answers with these bytes, cut as the test says. */
let reply: { body: string; cuts: readonly number[]; type: string }
let received = ''
const upstream = Bun.serve({
  port: 0,
  async fetch(request) {
    received = await request.text()
    const bytes = new TextEncoder().encode(reply.body)
    const { cuts, type } = reply
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        let at = 0
        for (const cut of [...cuts, bytes.length]) {
          if (cut > 0 && at < bytes.length) controller.enqueue(bytes.subarray(at, at + cut))
          at += cut
        }
        controller.close()
      },
    })
    return new Response(stream, { headers: { 'content-type': type } })
  },
})

let gateway: TestGateway
beforeAll(async () => {
  const route = {
    provider: 'aws',
    upstream_model: 'anthropic.claude-sonnet-4-6',
    compatibility: { cloud_b_ml: { api_style: 'edge_native_messages' } },
  }
  gateway = await startTestGateway({
    providers: [
      {
        id: 'aws',
        type: 'cloud_b_ml',
        region: 'eu-west-1',
        endpoint_url: upstream.url.origin,
        auth: { mode: 'bearer', token: 'literal.test-token' },
      },
    ],
    models: [
      { id: 'free', routes: [route] },
      { id: 'guarded', routes: [route] },
    ],
    guardrails: {
      model_routes: {
        'guarded/aws/anthropic.claude-sonnet-4-6': {
          enabled: true,
          mode: 'audit',
          packs: ['core.shell'],
        },
      },
    },
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream.stop(true)
})

const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>
const known = fc.constantFrom(
  { type: 'text', text: 'a', citations: [{ type: 'char_location', cited_text: 'x' }] },
  { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
  { type: 'redacted_thinking', data: 'AA==' },
  { type: 'tool_use', id: 't1', name: 'bash', input: { command: 'ls' } },
  { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'x' } },
  { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ encrypted_content: 'e' }] },
  { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'b' }] },
  { type: 'container_upload', file_id: 'f' },
)
const unknown = fc.record({ type: fc.string(), anything: json, 'odd key': json })
const block = fc.oneof(known, unknown) as fc.Arbitrary<JsonObject>
const blocks = fc.array(block, { minLength: 1, maxLength: 5 })
const counters = { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: 1 }
const members = fc.record({
  stop_reason: fc.constantFrom(
    'end_turn',
    'pause_turn',
    'refusal',
    'model_context_window_exceeded',
  ),
  stop_details: json,
  container: fc.constantFrom(null, { id: 'c1', expires_at: '2027-01-01T00:00:00Z' }),
  context_management: fc.constantFrom(null, { applied_edits: [] }),
  usage: fc.record({ service_tier: fc.constant('standard'), odd: json }),
})
const cuts = fc.array(fc.nat(120), { maxLength: 20 })

/** The request or reply of one exchange over a model. */
async function exchange(model: string, body: JsonObject, answer: typeof reply) {
  reply = answer
  const response = await gateway.post('/v1/messages', { model, max_tokens: 9, ...body })
  return { status: response.status, text: await response.text() }
}

describe.each(['free', 'guarded'])('over the model %s', (model) => {
  test('a request arrives as it was sent, and a whole reply comes back as it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        blocks,
        blocks,
        members,
        json,
        cuts,
        async (asked, content, more, odd, cut) => {
          const messages = [{ role: 'user', content: asked }]
          const body = { messages, system: [{ type: 'text', text: 's', odd }], unheard_of: odd }
          const message = {
            id: 'm',
            type: 'message',
            role: 'assistant',
            model: 'up',
            content,
            ...more,
          }
          const whole = { ...message, usage: { ...counters, ...more.usage } }
          const said = JSON.stringify(whole)
          const { status, text } = await exchange(model, body as unknown as JsonObject, {
            body: said,
            cuts: cut,
            type: 'application/json',
          })
          expect([status, text]).toEqual([200, said.replace('"model":"up"', `"model":"${model}"`)])
          const sent = { model: 'anthropic.claude-sonnet-4-6', max_tokens: 9, ...body }
          expect(received).toBe(JSON.stringify(sent))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('a stream comes back event by event as it is, however it is cut', async () => {
    const event = (type: string, data: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
    await fc.assert(
      fc.asyncProperty(blocks, members, json, cuts, async (content, more, odd, cut) => {
        const message = {
          id: 'm',
          role: 'assistant',
          model: 'up',
          content: [],
          usage: counters,
          odd,
        }
        const { usage, context_management, ...delta } = more
        const said = [
          event('message_start', { message }),
          event('ping', {}),
          ...content.flatMap((content_block, index) => [
            event('content_block_start', { index, content_block }),
            event('content_block_delta', { index, delta: { type: 'odd_delta', odd } }),
            event('content_block_stop', { index }),
          ]),
          event('odd_event', { odd }),
          event('message_delta', { delta, context_management, usage: { ...counters, ...usage } }),
          event('message_stop', {}),
        ].join('')
        const body = { messages: [{ role: 'user', content: 'x' }], stream: true }
        const { status, text } = await exchange(model, body, {
          body: said,
          cuts: cut,
          type: 'text/event-stream',
        })
        expect([status, text]).toEqual([200, said.replace('"model":"up"', `"model":"${model}"`)])
      }),
      { numRuns: 60 },
    )
  })

  test('a stream that is cut in a block ends with an error', async () => {
    const said = `event: message_start\ndata: {"type":"message_start","message":{"model":"up"}}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_`
    const body = { messages: [{ role: 'user', content: 'x' }], stream: true }
    const { text } = await exchange(model, body, {
      body: said,
      cuts: [],
      type: 'text/event-stream',
    })
    expect(text).toContain('"type":"error"')
    expect(text).toContain('upstream_transport')
    expect(text).not.toContain('message_stop')
  })

  test('a whole message in answer to a call for a stream is told as one', async () => {
    const whole = {
      ...{ id: 'm', type: 'message', role: 'assistant', model: 'up' },
      usage: counters,
    }
    const content = [{ type: 'text', text: 'To the sea.' }]
    const said = JSON.stringify({ ...whole, content, stop_reason: 'end_turn' })
    const body = { messages: [{ role: 'user', content: 'x' }], stream: true }
    const { text } = await exchange(model, body, { body: said, cuts: [], type: 'application/json' })
    expect(text).toContain('"text_delta","text":"To the sea."')
    expect(text).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')
  })
})
