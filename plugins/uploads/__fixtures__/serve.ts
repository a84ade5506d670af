/** Takes forms, makes them again, and says how much memory the process has had at most since it was asked. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HttpCall } from 'model-gateway/http'
import { writeForm } from '../contract.ts'
import { createUploads } from '../receive.ts'

const folder = mkdtempSync(join(tmpdir(), 'uploads-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
process.on('SIGTERM', () => process.exit())
const uploads = createUploads(folder, { maxBytes: 1e9, timeoutMs: 30_000 })
let most = 0
setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss())
}, 2)

const server = Bun.serve({
  port: 0,
  maxRequestBodySize: 1e9,
  async fetch(request) {
    const call = {
      request,
      header: (name: string) => request.headers.get(name),
      keepOpen() {},
    } as HttpCall
    const { body } = await writeForm(JSON.parse(await uploads.receive(call, 'file')))
    let bytes = 0
    for await (const piece of body.stream()) bytes += piece.length
    uploads.release(call)
    const peak = most
    most = process.memoryUsage.rss()
    return Response.json({ bytes, peak })
  },
})
console.log(server.port)
