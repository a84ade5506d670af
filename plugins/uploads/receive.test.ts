import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpCall } from 'model-gateway/http'
import { isUpload, type Upload, uploadedFile, writeForm } from './contract.ts'
import { createUploads } from './receive.ts'

const folder = mkdtempSync(join(tmpdir(), 'uploads-'))
afterAll(() => rmSync(folder, { recursive: true }))
const limits = { maxBytes: 1_000_000, timeoutMs: 30_000 }
const uploads = createUploads(folder, limits)

function callOf(body: FormData | ReadableStream, headers = {}): HttpCall {
  const request = new Request('http://gateway', { method: 'POST', body, headers })
  const header = (name: string) => request.headers.get(name)
  return { request, header, keepOpen() {} } as HttpCall
}

const left = () => readdirSync(folder).flatMap((name) => readdirSync(join(folder, name)))

test('a form becomes JSON, goes out again, and leaves nothing', async () => {
  const form = new FormData()
  form.append('model', 'ear')
  form.append('stream', 'true')
  form.append('include[]', 'logprobs')
  form.append('note', '1')
  form.append('note', '2')
  form.append('file', new File(['some sound'], 'größer a.wav', { type: 'audio/wav' }))
  const call = callOf(form)
  const read = JSON.parse(await uploads.receive(call, 'file'))
  const file: Upload = read.file
  expect(read).toEqual({
    ...{ model: 'ear', stream: true, include: ['logprobs'], note: ['1', '2'] },
    file: { name: 'größer a.wav', type: 'audio/wav', bytes: 10, part: expect.any(String) },
  })
  expect([isUpload(file), await uploadedFile(file).text()]).toEqual([true, 'some sound'])
  const { body, contentType } = await writeForm({ ...read, model: 'upstream' })
  const sent = await new Response(await body.text(), {
    headers: { 'content-type': contentType },
  }).formData()
  expect([...sent.keys()]).toEqual(['model', 'stream', 'include[]', 'note[]', 'note[]', 'file'])
  expect([sent.get('model'), (sent.get('file') as File).name]).toEqual(['upstream', 'größer a.wav'])
  expect(left()).toHaveLength(2)
  uploads.release(call)
  expect(isUpload(file)).toBe(false)
  expect(() => uploadedFile(file)).toThrow('request ended')
  while (readdirSync(folder).length > 0) await Bun.sleep(1)
})

test('a form that does not arrive in time is aborted', async () => {
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nsome'
  const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(head)) })
  const call = callOf(body, { 'content-type': 'multipart/form-data; boundary=b' })
  const hasty = createUploads(folder, { ...limits, timeoutMs: 50 })
  const error = await hasty.receive(call, 'file').catch((thrown) => thrown)
  expect(error.message).toBe('the request body did not arrive within 50 ms')
  hasty.release(call)
  while (readdirSync(folder).length > 0) await Bun.sleep(1)
})

test('memory does not grow with what is uploaded', async () => {
  const server = Bun.spawn(['bun', join(import.meta.dir, '__fixtures__/serve.ts')])
  try {
    const { value } = await server.stdout.getReader().read()
    const body = new FormData()
    body.append('file', new File([new Uint8Array(20_000_000)], 'long.wav'))
    const send = async (): Promise<{ bytes: number; peak: number }> =>
      (
        await fetch(`http://127.0.0.1:${Number(Buffer.from(value ?? []).toString())}`, {
          method: 'POST',
          body,
        })
      ).json() as never
    const { peak: before } = await send()
    const peaks: number[] = []
    for (let i = 0; i < 6; i++) {
      const { bytes, peak } = await send()
      expect(bytes).toBeGreaterThan(20_000_000)
      peaks.push(peak - before)
    }
    // Of 120 MB in total, including data that waits for garbage collection.
    expect(Math.max(...peaks)).toBeLessThan(60_000_000)
  } finally {
    server.kill()
    await server.exited
  }
})
