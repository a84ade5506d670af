/**
 * The twelve-line proxy that the gateway is compared with, as a separate process. `reference.ts
 * json` parses and serialises JSON both ways, `reference.ts plain` copies bytes. Both copy streams.
 * The last argument is the URL of the upstream.
 */
import { serveUntilOrphaned } from './machine.ts'

const [kind, upstream = ''] = process.argv.slice(2)
const headers = { 'content-type': 'application/json', authorization: 'Bearer upstream' }

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const url = upstream + new URL(request.url).pathname
    const body = kind === 'json' ? JSON.stringify(await request.json()) : await request.bytes()
    const reply = await fetch(url, { method: 'POST', headers, body })
    const type = reply.headers.get('content-type') ?? ''
    if (kind === 'json' && type.startsWith('application/json')) {
      return Response.json(await reply.json(), { status: reply.status })
    }
    return new Response(reply.body, { status: reply.status, headers: { 'content-type': type } })
  },
})
await serveUntilOrphaned(server.port)
