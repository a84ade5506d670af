import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ended } from '../../harness/ended.ts'
import { adaKey, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { startConformanceServer } from './__fixtures__/conformance-server.ts'

const SUITE = new URL('../../../node_modules/.bin/conformance', import.meta.url).pathname

let server: ReturnType<typeof startConformanceServer>
let gateway: TestGateway
/** Tool calls that did not go through the gateway. */
let callsBefore = 0
let forwarder: ReturnType<typeof startForwarder>

/** The suite cannot send a header, so the key is added on its way; everything else is as it came. */
function startForwarder() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const headers = new Headers(request.headers)
      headers.set('authorization', `Bearer ${adaKey}`)
      const body = request.method === 'POST' ? { body: await request.arrayBuffer() } : {}
      const { method, signal } = request
      const reply = await fetch(`${gateway.url}/mcp/suite`, { method, headers, signal, ...body })
      return new Response(reply.body, { status: reply.status, headers: reply.headers })
    },
  })
}

beforeAll(async () => {
  server = startConformanceServer()
  gateway = await startTestGateway({
    mcp: {
      servers: [
        { server_key: 'suite', display_name: 'Suite', server_url: server.url, allow_private: true },
      ],
    },
  })
  forwarder = startForwarder()
})
afterAll(async () => {
  await forwarder?.stop(true)
  await gateway?.stop()
  await server?.stop()
})

/** How many checks of each scenario passed and failed: `tools-list: 1 passed, 0 failed`. */
async function score(url: string): Promise<readonly string[]> {
  const child = Bun.spawn([process.execPath, SUITE, 'server', '--url', url], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const { out, err } = await ended(child)
  const lines = `${out}\n${err}`.split('\n').filter((line) => /\d+ passed, \d+ failed/.test(line))
  return lines.map((line) => line.replace(/^[^a-zA-Z]+/, '').trim()).sort()
}

test('the conformance suite cannot tell the proxy from the server', async () => {
  const direct = await score(server.url)
  callsBefore = server.calls()
  const proxied = await score(`http://localhost:${forwarder.port}/mcp`)
  expect(direct.length).toBeGreaterThan(25)
  expect(proxied).toEqual(direct)
  expect(direct.filter((line) => !line.includes(' 0 failed'))).toEqual([])
  expect(proxied.join('\n')).toContain('dns-rebinding-protection: 2 passed')
}, 60_000)

test('each tool call of the suite has exactly one row, and none is left open', async () => {
  const rows = await gateway.sql<{ status: string; calls: string }[]>`
    select status, count(*) as calls from mcp_audit.mcp_tool_invocations group by 1`
  const calls = rows.reduce((sum, row) => sum + Number(row.calls), 0)
  expect(calls).toBe(server.calls() - callsBefore)
  expect(rows.map(({ status }) => status).sort()).toEqual(['success', 'tool_error'])
})
