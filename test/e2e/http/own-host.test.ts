import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adaKey, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

// A page can have its own name resolve to this machine (DNS rebinding). Its requests then count as
// same-origin for the browser, but they carry that name.

let local: TestGateway
let listed: TestGateway
beforeAll(async () => {
  local = await startTestGateway({ server: { public_base_url: 'https://gateway.example.com' } })
  listed = await startTestGateway({
    server: { bind: '0.0.0.0:0', allowed_hosts: ['gateway.internal', 'LLM.example.com:8443'] },
  })
})
afterAll(async () => {
  await listed.stop()
  await local.stop()
})

const CHECKED = ['/api/v1/auth/session', '/console', '/docs', '/docs/json', '/mcp/tools']
const OPEN = ['/healthz', '/readyz', '/v1/models']

async function ask({ url }: TestGateway, path: string, host: string) {
  const { port } = new URL(url)
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: path.startsWith('/mcp') ? 'POST' : 'GET',
    headers: { host, authorization: `Bearer ${adaKey}` },
  })
  const text = await reply.text()
  const refused = reply.status === 403 && text.includes('csrf_rejected')
  return { refused, status: reply.status, text }
}

async function refusedBy(gateway: TestGateway, paths: readonly string[], host: string) {
  const replies = await Promise.all(paths.map((path) => ask(gateway, path, host)))
  return paths.filter((_, i) => replies[i]?.refused)
}

test('on loopback, pages of another name reach neither control plane, console, docs nor MCP', async () => {
  const evil = 'evil.example:8080'
  expect(await refusedBy(local, CHECKED, evil)).toEqual(CHECKED)
  expect((await ask(local, '/console', evil)).text).toContain('server.allowed_hosts')
  for (const host of ['localhost:1', '127.0.0.1', '[::1]:8080', 'gateway.example.com']) {
    expect(await refusedBy(local, CHECKED, host)).toEqual([])
  }
})

test('health and the inference API answer under any name', async () => {
  for (const path of OPEN) expect((await ask(local, path, 'evil.example')).status).toBe(200)
})

test('elsewhere server.allowed_hosts decides; a port in it has to fit', async () => {
  for (const host of ['gateway.internal', 'Gateway.Internal:80', 'llm.example.com:8443', '[::1]']) {
    expect(await refusedBy(listed, CHECKED, host)).toEqual([])
  }
  for (const host of ['x.gateway.internal', 'llm.example.com', '10.0.0.1']) {
    expect(await refusedBy(listed, CHECKED, host)).toEqual(CHECKED)
  }
})

test('a sign-in from a page of another name is refused before the password is looked at', async () => {
  const host = 'evil.example'
  const reply = await fetch(`${local.url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { host, origin: `http://${host}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'root@example.com', password: 'guess' }),
  })
  expect(reply.status).toBe(403)
  expect(await reply.json()).toMatchObject({ error: { code: 'csrf_rejected' } })
})
