import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adminPassword } from '../harness/admin.ts'
import { startTestGateway, type TestGateway } from '../harness/gateway.ts'
import { type ScriptedMcpServer, startScriptedServer } from '../harness/mcp-servers.ts'

const email = 'you@example.com'

let gateway: TestGateway
let server: ScriptedMcpServer
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-docs-'))
  server = startScriptedServer()
  server.tools = [{ name: 'ask_question' }]
  gateway = await startTestGateway({
    mcp: { allow_private_networks: true },
    auth: { bootstrap_admin: { email, password: `literal.${adminPassword}` } },
  })
})
afterAll(async () => {
  await gateway?.stop()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('every admin command of docs/mcp.md works as it is written', async () => {
  const page = readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text as string)
  const [settings = '', ...commands] = blocks
  const own: Record<string, string> = {
    GATEWAY: gateway.url,
    EMAIL: email,
    PASSWORD: `'${adminPassword}'`,
    MCP_URL: server.url,
  }
  const replaced = settings.replaceAll(
    /^(\w+)=.*$/gm,
    (_, name) => `${name}=${own[name as string]}`,
  )
  expect(replaced.match(/=/g)?.length).toBe(Object.keys(own).length)
  const script = ['set -euo pipefail', replaced, ...commands].join('\n')
  const child = Bun.spawn(['bash', '-xc', script], { cwd: folder, stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${err.slice(-1000)}\n${out.slice(-1000)}`)
  expect(out).toContain('"upstream_name":"ask_question"')
  expect(out).toContain('"status":"success"')
  expect(commands.join().match(/\b(call|curl) /g)?.length).toBeGreaterThan(10)
}, 20_000)
