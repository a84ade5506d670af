import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adminClient } from '../../test/harness/admin.ts'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { runPage } from '../../test/harness/docs-page.ts'
import { eventually } from '../../test/harness/gateway.ts'
import { freePort } from '../../test/harness/process.ts'
import {
  mergedConfig,
  packProject,
  runIn,
  startPackedGateway,
  startStandIns,
} from '../../test/harness/strangers.ts'
import { type Kind, kinds } from './templates.ts'

/** A stranger's machine: a packed gateway, an empty folder, and packages from the registry. */
describe('plugins from the templates, with nothing but a packed gateway', () => {
  const place = mkdtempSync(join(tmpdir(), 'strangers-'))
  const root = join(import.meta.dir, '../..')
  const nameOf = (kind: Kind) => `my-${kind}`
  const folderOf = (kind: Kind) => join(place, nameOf(kind))
  const undo: (() => unknown)[] = []

  const env = { GATEWAY_MCP_SECRET_MY_MCP_AUTH_MODE: 'try-me' }
  const run = (cwd: string, ...args: readonly string[]) => runIn(cwd, args, env)

  beforeAll(async () => {
    await packProject(place)
    for (const kind of kinds) {
      await run(place, join(root, 'plugins/standard/main.ts'), 'plugin', 'new', kind, nameOf(kind))
    }
    await run(folderOf('admin'), 'install')
    // The others would get the same packages.
    for (const kind of kinds.filter((other) => other !== 'admin')) {
      symlinkSync(join(folderOf('admin'), 'node_modules'), join(folderOf(kind), 'node_modules'))
    }
  }, 180_000)
  afterAll(async () => {
    for (const step of undo.toReversed()) await step()
    rmSync(place, { recursive: true, force: true })
  }, 30_000)

  test.each([...kinds])(
    '%s: its tests pass, its example config is valid',
    async (kind) => {
      const folder = folderOf(kind)
      const report = await run(folder, 'test')
      expect(report).toMatch(/\n 0 fail/)
      expect(Number(/\n (\d+) pass/.exec(report)?.[1])).toBeGreaterThan(10)
      const gateway = 'node_modules/model-gateway/plugins/standard/main.ts'
      expect(
        await run(folder, gateway, 'check-config', '--config', 'gateway.example.yaml'),
      ).toContain('is valid')
    },
    60_000,
  )

  test('their types hold', async () => {
    const include = [...kinds.map(nameOf), 'my-admin/node_modules/model-gateway/types.d.ts']
    const typeRoots = ['my-admin/node_modules/@types']
    writeFileSync(
      join(place, 'tsconfig.json'),
      JSON.stringify({
        extends: './my-admin/tsconfig.json',
        compilerOptions: { typeRoots },
        include,
      }),
    )
    await run(place, 'my-admin/node_modules/typescript/bin/tsc', '-p', place)
  }, 60_000)

  test('each of them serves a real request, all in one gateway', async () => {
    const database: TestDatabase = await createTestDatabase()
    undo.push(() => database.drop())
    const standIns = await startStandIns(
      (['provider', 'managed-check', 'mcp-auth-mode'] as const).map(folderOf),
    )
    undo.push(standIns.stop)
    const { url, post, chat, stop } = await startPackedGateway({
      installedIn: folderOf('admin'),
      config: mergedConfig(kinds.map(folderOf), standIns.portOf),
      databaseUrl: database.url,
      folder: place,
      env,
    })
    undo.push(stop)

    const whole = await chat('my-provider', 'hello')
    expect(await whole.json()).toMatchObject({
      choices: [{ message: { content: 'You said: hello' } }],
    })
    const streamed = await (await chat('my-provider', 'hello', { stream: true })).text()
    expect(streamed).toContain('"content":"said: "')
    expect(streamed).toContain('[DONE]')

    const own = await post('/v1/my-surface', { model: 'demo', prompt: 'hello' })
    expect([own.status, Object.keys((await own.json()) as object)]).toEqual([
      200,
      ['id', 'model', 'text', 'tokens'],
    ])

    const capped = await chat('demo', 'hello', { max_tokens: 500 })
    expect([capped.status, capped.headers.get('x-my-middleware-capped')]).toEqual([200, '50'])

    const blocked = await chat('demo', 'this is forbidden')
    expect(blocked.status).toBe(403)
    expect(await blocked.json()).toMatchObject({
      error: { reason_code: 'my_managed_check.blocked' },
    })

    const tool = { type: 'function', function: { name: 'my_pack.delete_project' } }
    const denied = await chat('demo', 'go on', { tools: [tool], tool_choice: 'required' })
    expect(denied.status).toBe(403)
    expect(await denied.json()).toMatchObject({ error: { reason_code: 'custom.deletes_project' } })

    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } }
    const reply = await post('/mcp/my-mcp-auth-mode', call)
    expect(await reply.text()).toContain('called by ada')

    const admin = await adminClient({ url, databaseUrl: database.url })
    const notes = '/api/v1/admin/my-admin/notes'
    expect(await admin.post<unknown>(notes, { text: 'kept' })).toMatchObject({ text: 'kept' })
    expect(await admin.get<unknown>(notes)).toMatchObject({ total: 1 })

    const calls = join(place, 'data', 'accounting_sink_my_accounting_sink', 'calls.jsonl')
    const line = await eventually(async () =>
      existsSync(calls) && readFileSync(calls, 'utf8').includes('my-provider') ? true : undefined,
    )
    expect(line).toBe(true)
  }, 60_000)
})

test('docs/tutorials/first-plugin.md ends with the new rule in force', async () => {
  const place = mkdtempSync(join(tmpdir(), 'guide-'))
  // If the tests run as root, Postgres runs as another account that needs access.
  chmodSync(place, 0o711)
  try {
    const root = join(import.meta.dir, '../..')
    await packProject(place)
    const settings = {
      GATEWAY: `"${process.execPath} ${join(root, 'plugins/standard/main.ts')}"`,
      PACKAGE: './model-gateway-0.1.0.tgz',
      BIND: `127.0.0.1:${freePort()}`,
    }
    const { out } = await runPage('tutorials/first-plugin.md', settings, place)
    expect(out.match(/^HTTP.* \d+|^x-token-cap-capped: .*/gm)).toEqual([
      'HTTP/1.1 200',
      'x-token-cap-capped: 50',
      'HTTP/1.1 400',
      'HTTP/1.1 200',
      'x-token-cap-capped: 50',
    ])
    expect(out).toContain('x-gateway-service is missing: name your service')
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}, 180_000)
