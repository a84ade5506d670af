import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adminPassword } from '../../harness/admin.ts'
import { blocksOf, runPage } from '../../harness/docs-page.ts'
import { adaKey, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { type ScriptedMcpServer, startScriptedServer } from '../../harness/mcp-servers.ts'

const email = 'you@example.com'

let gateway: TestGateway
let server: ScriptedMcpServer
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-docs-'))
  server = startScriptedServer()
  server.tools = [{ name: 'ask_question', inputSchema: { type: 'object' } }]
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
  const own = {
    GATEWAY: gateway.url,
    EMAIL: email,
    PASSWORD: `'${adminPassword}'`,
    MCP_URL: server.url,
  }
  const { out, commands } = await runPage('mcp.md', own, folder)
  expect(out).toContain('"upstream_name":"ask_question"')
  expect(out).toContain('"status":"success"')
  expect(commands.match(/\b(call|curl) /g)?.length).toBeGreaterThan(10)
}, 20_000)

test('the program of docs/mcp.md calls the server that was registered', async () => {
  const [program] = blocksOf('docs/mcp.md').filter(({ language }) => language === 'ts')
  // Beside this test, from where the client can be imported.
  const file = new URL(`mcp-page-${process.pid}.tmp.ts`, import.meta.url).pathname
  const text = program?.text.replace('http://127.0.0.1:8080', gateway.url)
  writeFileSync(
    file,
    `${text}\nconsole.log(JSON.stringify(await client.listTools()))\nawait client.close()\n`,
  )
  try {
    const child = Bun.spawn([process.execPath, file], {
      env: { ...process.env, GATEWAY_API_KEY: adaKey },
      stderr: 'inherit',
    })
    expect(await new Response(child.stdout).json()).toMatchObject({
      tools: [{ name: 'ask_question' }],
    })
  } finally {
    rmSync(file)
  }
}, 20_000)
