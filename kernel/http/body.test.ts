import { expect, test } from 'bun:test'
import { readBody } from './body.ts'

const limits = { maxBytes: 4, timeoutMs: 1000 }

/** A body whose length is stated, or that comes in pieces of which nobody knows how many there are. */
function sent(text: string, stated: boolean): Request {
  const pieces = [...text].map((piece) => new TextEncoder().encode(piece))
  const body = new ReadableStream({
    pull(to) {
      const piece = pieces.shift()
      if (piece === undefined) to.close()
      else to.enqueue(piece)
    },
  })
  return stated
    ? new Request('http://h/', {
        method: 'POST',
        body: text,
        headers: { 'content-length': String(text.length) },
      })
    : new Request('http://h/', { method: 'POST', body })
}

test.each([true, false])(
  'a body may be as long as the limit and no longer, stated: %p',
  async (stated) => {
    expect(await readBody(sent('1234', stated), limits)).toBe('1234')
    await expect(readBody(sent('12345', stated), limits)).rejects.toMatchObject({
      code: 'request_body_too_large',
      status: 413,
    })
  },
)

test('a body that does not come in time ends its connection', async () => {
  const body = new ReadableStream({ start() {} })
  const late = readBody(new Request('http://h/', { method: 'POST', body }), {
    ...limits,
    timeoutMs: 20,
  })
  await expect(late).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'the request body did not arrive within 20 ms',
    headers: { connection: 'close' },
  })
})

test.each([
  ['gzip', 'content-encoding: the request body must not be compressed'],
  ['Identity', 'the request body is not valid UTF-8'],
  [undefined, 'the request body is not valid UTF-8'],
])(
  'what is no UTF-8 is told by what it may be, content-encoding: %p',
  async (encoding, message) => {
    const request = new Request('http://h/', {
      method: 'POST',
      body: new Uint8Array([0x1f, 0x8b]),
      headers: encoding === undefined ? {} : { 'content-encoding': encoding },
    })
    await expect(readBody(request, limits)).rejects.toMatchObject({
      code: 'invalid_request',
      message,
    })
  },
)
