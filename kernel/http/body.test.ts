import { expect, test } from 'bun:test'
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { readBody } from './body.ts'

const limits = { maxBytes: 4, timeoutMs: 1000 }

/** A body with a declared length, or one in chunks of unknown number. */
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

test('a body that does not arrive in time ends its connection', async () => {
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

const packers = {
  gzip: gzipSync,
  'X-Gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  'deflate, gzip': (data: Uint8Array) => gzipSync(deflateRawSync(data)),
  'identity,,zstd': zstdCompressSync,
}

const packed = (encoding: string, body: Uint8Array) =>
  readBody(
    new Request('http://h/', {
      method: 'POST',
      body: Uint8Array.from(body),
      headers: { 'content-encoding': encoding },
    }),
    { ...limits, maxBytes: 4_096 },
  )

test.each(Object.entries(packers))('%s is unpacked, up to the limit', async (encoding, pack) => {
  const text = JSON.stringify({ text: 'ü'.repeat(1_000) })
  expect(await packed(encoding, pack(Buffer.from(text)))).toBe(text)
  await expect(packed(encoding, pack(Buffer.alloc(2 ** 22)))).rejects.toMatchObject({ status: 413 })
  // A missing end of a zstd frame is not detected, but broken JSON is.
  if (encoding.includes('zstd')) return
  const broken = pack(Buffer.from(text)).subarray(0, 12)
  await expect(packed(encoding, broken)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('content-encoding: the request body is not valid'),
  })
})

test('accepts a plain body with a stated encoding; an unknown encoding is 415', async () => {
  expect(await packed('gzip', Buffer.from('{"a":1}'))).toBe('{"a":1}')
  await expect(packed('compress', Buffer.from('{}'))).rejects.toMatchObject({
    status: 415,
    message: expect.stringContaining('gzip, deflate, br or zstd'),
  })
})

test.each(['Identity', undefined])(
  'reports a body that is not UTF-8, encoding: %p',
  async (encoding) => {
    const request = new Request('http://h/', {
      method: 'POST',
      body: new Uint8Array([0x1f, 0x8b]),
      headers: encoding === undefined ? {} : { 'content-encoding': encoding },
    })
    await expect(readBody(request, limits)).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'the request body is not valid UTF-8',
    })
  },
)
