import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formEnd, spoolForm } from './multipart.ts'

const folder = mkdtempSync(join(tmpdir(), 'forms-'))
afterAll(() => rmSync(folder, { recursive: true }))
const to = join(folder, 'form')
const disposition = (rest: string) => `Content-Disposition: form-data; ${rest}\r\n`

/** A request whose body arrives in chunks of this size. */
function request(body: string, size: number, boundary = 'edge') {
  const bytes = new TextEncoder().encode(body)
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
      controller.close()
    },
  })
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` }
  return new Request('http://localhost/', { method: 'POST', headers, body: stream })
}

/** Contains text that resembles the closing boundary. */
const CONTENT = 'a\r\n--edg\r\n--edg?\r\n--\r\r\n-'
const form = [
  `preamble\r\n--edge\r\n${disposition('name="purpose"')}\r\nbatch`,
  `--edge\r\n${disposition('name="file"; filename="ü.jsonl"')}Content-Type: text/plain\r\n\r\n${CONTENT}`,
  `--edge\r\n${disposition('name="expires_after[anchor]"')}\r\n`,
  '--edge--\r\nepilogue',
].join('\r\n')

test('a form is read the same for any chunks', async () => {
  for (const size of [1, 2, 3, 7, 16, 64, 10_000]) {
    const spooled = await spoolForm(request(form, size), to, 'ours', 10_000)
    expect(spooled.fields).toEqual([
      ['purpose', 'batch'],
      ['expires_after[anchor]', ''],
    ])
    const written = readFileSync(to)
    const { fileFrom, fileSize } = spooled
    expect(written.subarray(fileFrom).toString()).toBe(CONTENT)
    expect(fileFrom + fileSize).toBe(written.length)
    // The form that is sent on has the same parts for any parser.
    const sent = await new Response(written.toString() + formEnd('ours', [['a"b', 'c\r\nd']]), {
      headers: { 'content-type': 'multipart/form-data; boundary=ours' },
    }).formData()
    expect((sent.get('file') as File).name).toBe('ü.jsonl')
    expect(sent.get('a%22b') ?? sent.get('a"b')).toBe('c\r\nd')
  }
})

test('anything but a form with one file is refused with a reason', async () => {
  const file = `--edge\r\n${disposition('name="file"; filename="a"')}\r\nabc\r\n`
  for (const [body, message] of [
    [`${file}`, 'Unexpected end of multipart data'],
    [`${file}${file}--edge--`, 'at most 1 file and 64 fields'],
    [
      `--edge\r\n${disposition('name="image"; filename="a"')}\r\nabc\r\n--edge--`,
      "in the field 'file'",
    ],
    [`--edge\r\n${disposition('name="purpose"')}\r\nbatch\r\n--edge--`, 'has no file'],
    ['--edge\r\nContent-Type: text/plain\r\n\r\nabc\r\n--edge--', 'has no file'],
    [
      `--edge\r\n${disposition('name="file"; filename="a"')}\r\n${'x'.repeat(2_000)}\r\n--edge--`,
      'larger than 1000 bytes',
    ],
  ] as const) {
    await expect(spoolForm(request(body, 100), to, 'ours', 1_000)).rejects.toThrow(message)
  }
  const json = new Request('http://localhost/', { method: 'POST', body: '{}' })
  await expect(spoolForm(json, to, 'ours', 1_000)).rejects.toThrow('must be multipart/form-data')
})
