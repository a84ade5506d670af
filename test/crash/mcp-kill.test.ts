import { afterAll, beforeAll, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import postgres from 'postgres'
import { builtins } from '../../plugins/standard/builtins.ts'
import {
  event,
  events,
  fine,
  idOf,
  type McpUpstream,
  startMcpUpstream,
  toolCall,
} from '../e2e/mcp/mcp-upstream.fixture.ts'
import { adaKey, eventually } from '../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../harness/process.ts'

let upstream: McpUpstream
let gateway: GatewayProcess
let sql: postgres.Sql

beforeAll(async () => {
  upstream = startMcpUpstream()
  gateway = await spawnGateway({
    plugins: Object.keys(builtins).map((name) => ({
      use: `builtin:${name}`,
      ...(name === 'mcp-audit' && { config: { lease_secs: 2 } }),
    })),
    mcp: {
      servers: [
        {
          server_key: 'tools',
          display_name: 'Tools',
          server_url: upstream.url,
          allow_private: true,
        },
      ],
    },
  })
  sql = postgres(gateway.databaseUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql?.end()
  await gateway?.remove()
  await upstream?.stop()
})

const call = (id: number) =>
  fetch(`${gateway.url}/mcp/tools`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(toolCall(id)),
  })

const rows = () => sql<{ jsonrpc_id: string; status: string }[]>`
  select jsonrpc_id, status from mcp_audit.mcp_tool_invocations order by id`

/** Bytes of calls that stand on the disk because the database has not got them yet. */
const writtenAhead = () =>
  [...new Bun.Glob('**/mcp-audit-*.log').scanSync({ cwd: gateway.dataDir, absolute: true })]
    .map((path) => statSync(path).size)
    .reduce((sum, size) => sum + size)

test('kill -9 leaves rows that are started; a sweep closes them, and no row that is worked on', async () => {
  upstream.script = ({ text }) =>
    Number(idOf(text)) < 100 ? Response.json(fine(idOf(text))) : events([Number.POSITIVE_INFINITY])
  for (let id = 1; id <= 3; id++) expect((await call(id)).status).toBe(200)
  const asked = Array.from({ length: 5 }, (_, n) => call(100 + n).catch(() => undefined))
  await eventually(async () => (upstream.seen.length === 8 ? true : undefined))
  await eventually(async () =>
    (await rows()).filter(({ status }) => status === 'success').length === 3 ? true : undefined,
  )
  await eventually(async () => (writtenAhead() === 0 ? true : undefined))
  await gateway.end('SIGKILL')
  await Promise.all(asked)
  const left = await rows()
  expect(left.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 3 }, () => 'success'),
    ...Array.from({ length: 5 }, () => 'started'),
  ])

  await gateway.restart()
  // Longer than the lease: a call that goes on is not given up.
  upstream.script = ({ text }) => events([': wait\n\n', 4_000, event(fine(idOf(text)))])
  const reply = await call(200)
  expect(await reply.text()).toContain('fine')
  const swept = await eventually(async () => {
    const found = await rows()
    return found.some(({ status }) => status === 'started') ? undefined : found
  })
  expect(swept.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 3 }, () => 'success'),
    ...Array.from({ length: 5 }, () => 'incomplete'),
    'success',
  ])
}, 30_000)

test('whatever the server has seen has its row, however soon the gateway was killed', async () => {
  const seen = new Set<number>()
  upstream.script = ({ text }) => {
    seen.add(Number(idOf(text)))
    if (seen.size === 10) gateway.signal('SIGKILL')
    return events([Number.POSITIVE_INFINITY])
  }
  await Promise.all(Array.from({ length: 20 }, (_, n) => call(300 + n).catch(() => undefined)))
  await gateway.end('SIGKILL')
  await gateway.restart()
  const swept = await eventually(async () => {
    const found = (await rows()).filter(({ jsonrpc_id }) => Number(jsonrpc_id) >= 300)
    return found.some(({ status }) => status === 'started') ? undefined : found
  })
  expect(seen.size).toBeGreaterThanOrEqual(10)
  expect(swept.filter(({ status }) => status !== 'incomplete')).toEqual([])
  const written = new Set(swept.map(({ jsonrpc_id }) => Number(jsonrpc_id)))
  expect(written.size).toBe(swept.length)
  expect([...seen].filter((id) => !written.has(id))).toEqual([])
}, 30_000)
