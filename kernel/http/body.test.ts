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
