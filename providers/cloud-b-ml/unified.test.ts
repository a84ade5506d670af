/** Other data of a reply: the request id, and undocumented content. */
import { expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { collectEvents, providerCall } from 'model-gateway/testing'
import {
  converseFrames,
  converseReply,
  converseUsage,
  eventFrame,
} from '../../test/harness/upstream-clouds-aws.ts'
import type { CompatEndpoint } from '../_shared/compat-http.ts'
import { type Anomaly, unifiedChat } from './unified.ts'

const said = {
  blocks: [{ kind: 'text' as const, pieces: ['Downhill.'] }],
  stopReason: 'end_turn',
  usage: converseUsage,
}
const ID = '8c9a2f6e-4e0b-4c54-9d6a-2f1b7c3d5e7f'

/** An endpoint that answers every call with these bytes. */
function answering(bytes: Uint8Array, type: string): CompatEndpoint {
  async function* body() {
    yield bytes
  }
  return {
    egress: {
      async send() {
        const headers = new Headers({ 'content-type': type, 'x-amzn-requestid': ID })
        return { status: 200, headers, body: body(), bytes: async () => bytes }
      },
    },
    url: 'https://h/model/m/converse',
    headers: {},
    credentials: () => ({}),
  }
}

function chat(frames: readonly Uint8Array[] = converseFrames(said)) {
  const anomalies: Anomaly[] = []
  const reply = new TextEncoder().encode(JSON.stringify(converseReply(said)))
  const endpoints = {
    buffered: answering(reply, 'application/json'),
    streamed: answering(Buffer.concat(frames), 'application/vnd.amazon.eventstream'),
  }
  const route = { upstreamModel: 'm', extraBody: {} }
  const execute = unifiedChat(endpoints, route, (kind) => anomalies.push(kind))
  return { execute, anomalies }
}

const body = { model: 'asked', messages: [{ role: 'user', content: 'hi' }] }

test.each([
  ['chat completions', {}, `chatcmpl-${ID}`],
  ['messages', { surface: 'messages' }, `msg_${ID}`],
] as const)(
  'a reply has the id of its request, as callers of %s know ids',
  async (_, surface, id) => {
    const { execute } = chat()
    const whole = await execute({ ...providerCall(body), ...surface })
    expect(whole).toMatchObject({ body: { id } })
    const streamed = await execute({ ...providerCall({ ...body, stream: true }), ...surface })
    const [first] = await collectEvents(streamed)
    expect(first?.json()).toMatchObject({ id } as JsonObject)
  },
)

test('a wrong checksum and an unknown event are counted separately', async () => {
  const [first = Buffer.alloc(0), ...frames] = converseFrames(said)
  const damaged = Uint8Array.from(first)
  damaged[damaged.length - 1] = (damaged.at(-1) as number) ^ 1
  const { execute, anomalies } = chat([damaged, eventFrame('later', {}), ...frames])
  const events = await collectEvents(await execute(providerCall({ ...body, stream: true })))
  expect(events.at(-1)?.data).toBe('[DONE]')
  expect(anomalies).toEqual(['crc_mismatch', 'unknown_event'])
})
