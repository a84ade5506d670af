import { describe, expect, test } from 'bun:test'
import { createRedact } from './redact.ts'
import { readUpstreamError } from './upstream-error.ts'

const asIs = (text: string) => text

test('an HTML page is never passed on, but its status is', async () => {
  const page = new Response('<html><body>internal-host-17</body></html>', { status: 503 })
  const error = await readUpstreamError(reply(page), asIs)
  expect(error).toMatchObject({
    code: 'upstream_http_error',
    status: 503,
    message: 'the upstream answered with status 503',
  })
})

test('a redirect is reported as a redirect, whatever its body says', async () => {
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
  [529, 529],
  [402, 402],
])('status %i becomes %i', async (upstream, ours) => {
  const error = await readUpstreamError(reply(new Response('{}', { status: upstream })), asIs)
  expect([error.status, error.details.upstream_status]).toEqual([ours, upstream])
})

describe('error types and codes for clients', () => {
  const wordsOf = async (error: unknown, headers = {}) => {
    const body = new Response(JSON.stringify(error), { status: 400, headers })
    const { upstream } = await readUpstreamError(reply(body), createRedact(['Bearer my-odd-token']))
    return JSON.parse(JSON.stringify(upstream))
  }
  test('are those of the body, and of the header that AWS has for them', async () => {
    expect(
      await wordsOf({ error: { code: 'context_length_exceeded', type: 't', param: 'input' } }),
    ).toEqual({ code: 'context_length_exceeded', type: 't', param: 'input' })
    const typed = { 'x-amzn-errortype': 'ThrottlingException:http://internal.amazon.com/' }
    expect(await wordsOf({ message: 'No.' }, typed)).toEqual({ code: 'ThrottlingException' })
  })

  test.each([
    {},
    { error: 'context_length_exceeded' },
    { error: { code: '' } },
    { error: { code: 'two words', type: 'two words', param: 'two words' } },
    { error: { code: 'a'.repeat(65), type: 'a'.repeat(65) } },
    { error: { code: '<html>', type: '<html>', param: '<html>' } },
    { error: { code: 'my-odd-token', type: 'my-odd-token', param: 'my-odd-token' } },
    { error: { code: 'sk-0123456789', type: 'sk-0123456789', param: 'sk-0123456789' } },
    { error: { code: ['a'], type: { a: 1 }, param: 7 } },
  ])('none in %j', async (body) => {
    expect(await wordsOf(body)).toEqual({})
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

test('an endless error body is read up to a limit', async () => {
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
