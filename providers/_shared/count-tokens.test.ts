import { beforeEach, expect, test } from 'bun:test'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import type { Egress, EgressResponse } from 'model-gateway/provider'
import { providerCall } from 'model-gateway/testing'
import { type Counter, countExecutor } from './count-tokens.ts'

type Answer = (signal: AbortSignal) => Response | Promise<Response>

let asked: string[] = []
beforeEach(() => {
  asked = []
})

function counter(name: string, answer: Answer): Counter {
  const egress: Egress = {
    async send(call) {
      asked.push(name)
      const response = await answer(call.signal)
      const { status, headers } = response
      const bytes = async () => new Uint8Array(await response.arrayBuffer())
      return { status, headers, body: response.body, bytes } as unknown as EgressResponse
    },
  }
  const endpoint = { egress, url: `https://${name}`, headers: {}, credentials: () => ({}) }
  return { endpoint, body: (prompt) => prompt }
}

const says = (status: number, message: string) => () =>
  Response.json({ error: { message } }, { status })
const counts = (tokens: number) => () => Response.json({ input_tokens: tokens })
const request = { model: 'asked', messages: [{ role: 'user', content: 'hi' }] }
const route = { extraBody: {} }

async function outcome(counters: readonly Counter[], body: JsonObject = request) {
  const execute = countExecutor(counters, route, 20)
  const call = providerCall(body)
  return await execute(call).catch(({ code, status, details, message }) => ({
    ...{ code, status, upstream: details.upstream_status, message },
  }))
}

test('the first counter that answers is used', async () => {
  const counters = [counter('one', counts(7)), counter('two', counts(8))]
  expect(await outcome(counters)).toEqual({ kind: 'buffered', body: { input_tokens: 7 } })
  expect(asked).toEqual(['one'])
})

test.each<[string, Answer, object]>([
  [
    'the prompt is refused',
    says(400, 'messages.0.content: Input should be a string'),
    { code: 'upstream_http_error', status: 400 },
  ],
  [
    'only a member of it is unknown',
    says(400, 'messages.0.later: Extra inputs are not permitted'),
    { code: 'upstream_http_error', status: 502, upstream: 400 },
  ],
  ['it refuses for its own reasons', says(400, 'no'), { status: 502, upstream: 400 }],
  [
    'the prompt is too long',
    says(400, 'Input is too long for requested model.'),
    { status: 502, upstream: 400 },
  ],
  ['it is busy', says(429, 'slow down'), { status: 429 }],
  ['it is broken', says(500, 'oops'), { status: 500 }],
  ['it says something else', () => new Response('<html>'), { code: 'upstream_transport' }],
  [
    'it says nothing',
    (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
    { code: 'upstream_timeout', message: expect.stringContaining('within 20 ms') },
  ],
])('no other one is asked, and the error tells, when %s', async (_, answer, expected) => {
  const counters = [counter('one', answer), counter('two', counts(8))]
  expect(await outcome(counters)).toMatchObject(expected)
  expect(asked).toEqual(['one'])
})

test.each<[string, Answer]>([
  ['does not know the model', says(400, 'The provided model identifier is invalid.')],
  ['does not count for it', says(400, "The provided model doesn't support counting tokens.")],
  ['is not there', says(404, 'not found')],
  ['may not be asked', says(403, 'User is not authorized')],
])('a counter that %s is left alone for a while', async (_, answer) => {
  const counters = [counter('one', answer), counter('two', counts(8))]
  const execute = countExecutor(counters, route)
  for (const _ of [1, 2]) await execute(providerCall(request))
  expect(asked).toEqual(['one', 'two', 'two'])
  asked = []
  const alone = countExecutor([counter('one', answer)], route)
  const refusals: unknown[] = []
  for (const _ of [1, 2]) {
    const error = await alone(providerCall(request)).catch((thrown) => thrown)
    refusals.push((error as GatewayError).code)
  }
  // The counter was not called the second time, so no call failed.
  expect([asked, refusals]).toEqual([['one'], ['upstream_http_error', 'invalid_request']])
})

test('a counter that timed out is skipped afterwards', async () => {
  const silent = counter('one', (signal) => {
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  })
  const execute = countExecutor([silent], route, 20)
  for (const code of ['upstream_timeout', 'invalid_request']) {
    const error = await execute(providerCall(request)).catch((thrown) => thrown)
    expect((error as GatewayError).code).toBe(code as 'invalid_request')
  }
  expect(asked).toEqual(['one'])
})

test('no further counter is asked after the caller disconnects', async () => {
  const call = providerCall(request)
  const first = counter('one', () => {
    call.abort()
    throw new GatewayError('upstream_transport', 'broken off')
  })
  await countExecutor([first, counter('two', counts(8))], route)(call).catch(() => {})
  expect(asked).toEqual(['one'])
})

test('the route’s additions are counted with the prompt', async () => {
  let sent: JsonObject | undefined
  const { endpoint } = counter('one', counts(7))
  const body = (prompt: JsonObject) => {
    sent = prompt
    return prompt
  }
  const extraBody = { system: 'Be short.', max_tokens: 5, tools: [] }
  await countExecutor([{ endpoint, body }], { extraBody })(providerCall(request))
  expect(sent).toEqual({ messages: request.messages, system: 'Be short.' })
})
