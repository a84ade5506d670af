import { describe, expect, test } from 'bun:test'
import { createRedact } from './redact.ts'
import { errorMessage, readUpstreamError } from './upstream-error.ts'

const asIs = (text: string) => text

test.each([
  [
    'OpenAI',
    '{"error":{"message":"No such model","type":"x","param":null,"code":"m"}}',
    'No such model',
  ],
  [
    'Anthropic',
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    'Overloaded',
  ],
  [
    'Google',
    '{"error":{"code":400,"message":"Bad field","status":"INVALID_ARGUMENT"}}',
    'Bad field',
  ],
  [
    'Google, streamed',
    '[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}]',
    'Quota',
  ],
  ['Bedrock', '{"message":"Malformed input request"}', 'Malformed input request'],
  ['Bedrock, older', '{"Message":"User is not authorized"}', 'User is not authorized'],
  ['a bare string', '{"error":"model not loaded"}', 'model not loaded'],
  ['FastAPI', '{"detail":"Not Found"}', 'Not Found'],
  [
    'FastAPI, field by field',
    '{"detail":[{"type":"missing","loc":["body","messages",0,"role"],"msg":"Field required","input":{}},{"loc":["body","n"],"msg":"too large"}]}',
    'body.messages.0.role: Field required; body.n: too large',
  ],
  [
    'Mistral',
    '{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted","input":true}]},"type":"invalid_request_error","param":null,"code":null}',
    'body.store: Extra inputs are not permitted',
  ],
  [
    'Mistral, newer',
    '{"object":"Error","detail":[{"loc":["body","tools"],"msg":"Bad"}],"message":[{"loc":["body","tools"],"msg":"Bad"}],"type":"invalid_request_error","code":3001}',
    'body.tools: Bad',
  ],
  [
    'LiteLLM, to a call that was to be streamed',
    'data: {"error":{"message":"Error processing stream start","code":"500"}}\n\ndata: [DONE]\n\n',
    'Error processing stream start',
  ],
  ['an event with a name', 'event: error\r\ndata:{"error":"busy"}\r\n\r\n', 'busy'],
])('the message of an error of %s', (_, text, message) => {
  expect(errorMessage(text)).toBe(message)
})

test.each([
  '',
  'null',
  '[]',
  '42',
  '{"error":{}}',
  '{"error":{"message":" "}}',
  '{"detail":[]}',
  '{"detail":[null,{"msg":7},{"loc":"body"}]}',
  '<html>host-17</html>',
  'data: [DONE]',
  'data: <html>',
])('no message in %p', (text) => {
  expect(errorMessage(text)).toBeUndefined()
})

test('a web page is never passed on, its status is', async () => {
  const page = new Response('<html><body>internal-host-17</body></html>', { status: 503 })
  const error = await readUpstreamError(reply(page), asIs)
  expect(error).toMatchObject({
    code: 'upstream_http_error',
    status: 503,
    message: 'the upstream answered with status 503',
  })
})

test('a redirect is told as one, whatever it says', async () => {
  const moved = new Response('{"error":"go to http://10.0.0.1"}', { status: 307 })
  const { message } = await readUpstreamError(reply(moved), asIs)
  expect(message).toBe('the upstream answered with status 307, which is not followed')
})

test.each([
  [400, 400],
  [401, 502],
  [403, 502],
  [302, 502],
  [404, 404],
  [429, 429],
  [500, 500],
  [529, 503],
])('status %i becomes %i', async (upstream, ours) => {
  const error = await readUpstreamError(reply(new Response('{}', { status: upstream })), asIs)
  expect([error.status, error.details.upstream_status]).toEqual([ours, upstream])
})

test('what official clients go by when they try again is passed on', async () => {
  const headers = {
    'retry-after': '3',
    'retry-after-ms': '2500',
    'x-should-retry': 'false',
    'x-ratelimit-remaining-requests': '0',
  }
  const error = await readUpstreamError(reply(new Response('{}', { status: 429, headers })), asIs)
  expect(error.headers).toEqual({
    'retry-after': '3',
    'retry-after-ms': '2500',
    'x-should-retry': 'false',
  })
})

test('retry-after is passed on when it is printable', async () => {
  const answer = (value: string) => {
    const headers = { 'retry-after': value }
    return readUpstreamError(reply(new Response('{}', { status: 429, headers })), asIs)
  }
  expect((await answer('17')).headers).toEqual({ 'retry-after': '17' })
  expect((await answer('Wed, 21 Oct 2026 07:28:00 GMT')).headers['retry-after']).toStartWith('Wed')
  expect((await answer('9'.repeat(100))).headers).toEqual({})
})

describe('the code by which clients know an error again', () => {
  const codeOf = async (error: unknown) => {
    const body = new Response(JSON.stringify(error), { status: 400 })
    return (await readUpstreamError(reply(body), createRedact(['Bearer my-odd-token']))).details
  }
  test.each([
    ['OpenAI', { error: { code: 'context_length_exceeded' } }, 'context_length_exceeded'],
    ['OpenAI, with a type alone', { error: { code: null, type: 'tokens' } }, 'tokens'],
    ['Anthropic', { type: 'error', error: { type: 'overloaded_error' } }, 'overloaded_error'],
    ['LiteLLM', { error: { code: '400', type: 'throttling_error' } }, 'throttling_error'],
    ['Google', { error: { code: 400, status: 'INVALID_ARGUMENT' } }, 'INVALID_ARGUMENT'],
  ])('of %s', async (_, body, code) => {
    expect(await codeOf(body)).toEqual({ upstream_status: 400, upstream_code: code })
  })

  test.each([
    {},
    { error: 'context_length_exceeded' },
    { error: { code: 7 } },
    { error: { code: '' } },
    { error: { code: '500' } },
    { error: { code: 'two words' } },
    { error: { code: 'a'.repeat(65) } },
    { error: { code: 'my-odd-token' } },
    { error: { code: 'sk-0123456789' } },
  ])('none in %j', async (body) => {
    expect(await codeOf(body)).toEqual({ upstream_status: 400 })
  })
})

test('the credentials of the call are masked', async () => {
  const body = JSON.stringify({ error: { message: 'key my-odd-token is unknown' } })
  const error = await readUpstreamError(
    reply(new Response(body, { status: 401 })),
    createRedact(['Bearer my-odd-token']),
  )
  expect(error.message).toBe('key [redacted] is unknown')
})

test('an endless error body is read only so far', async () => {
  let pulled = 0
  let cancelled = false
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++
      controller.enqueue(new Uint8Array(16 * 1024).fill(65))
    },
    cancel() {
      cancelled = true
    },
  })
  expect((await readUpstreamError(reply(new Response(body, { status: 500 })), asIs)).status).toBe(
    500,
  )
  expect(cancelled).toBe(true)
  expect(pulled).toBeLessThan(10)
})

function reply(response: Response) {
  const { status, headers, body } = response
  if (body === null) throw new Error('the reply of this test has no body')
  return { status, headers, body }
}
