import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { startEmbedded } from '../../../plugins/embedded-postgres/index.ts'
import { certify, MAY_SIGN } from '../../harness/certificate.ts'
import { adaKey, eventually } from '../../harness/gateway.ts'
import { spawnGateway } from '../../harness/process.ts'
import { believable, startUpstream, type Upstream } from '../../harness/upstream.ts'

let folder: string
let server: Awaited<ReturnType<typeof startEmbedded>>
let sql: Sql
let upstream: Upstream

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-database-tls-'))
  // As root, Postgres runs under another account, which has to get to its files.
  chmodSync(folder, 0o711)
  server = await startEmbedded({ dataDir: folder })
  sql = postgres(server.url, { max: 1, onnotice: () => {} })
  certify(folder, 'ca', MAY_SIGN)
  const { key, cert } = certify(folder, 'database', 'subjectAltName=IP:127.0.0.1', 'ca')
  const [{ dir }] = await sql<[{ dir: string }]>`select current_setting('data_directory') as dir`
  const { uid, gid } = statSync(dir)
  for (const [name, text] of Object.entries({ 'server.key': key, 'server.crt': cert })) {
    writeFileSync(join(dir, name), text, { mode: 0o600 })
    chownSync(join(dir, name), uid, gid)
  }
  await sql`alter system set ssl = on`
  await sql`select pg_reload_conf()`
  await eventually(async () => (await sql`show ssl`)[0]?.ssl === 'on' || undefined)
  upstream = await startUpstream()
  upstream.always(believable())
}, 60_000)
afterAll(async () => {
  await upstream.stop()
  await sql.end()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

function start(sslmode: string, options: { host?: string; ca?: string } = {}) {
  const url = new URL(server.url)
  url.hostname = options.host ?? url.hostname
  url.searchParams.set('sslmode', sslmode)
  const config = {
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
  }
  const env = { NODE_EXTRA_CA_CERTS: options.ca ?? '' }
  return spawnGateway(config, { databaseUrl: url.href, env })
}

const authority = () => join(folder, 'ca.pem')

/** What it says when it cannot start. */
const refusal = (...args: Parameters<typeof start>): Promise<string> =>
  start(...args).then(
    async (gateway) => {
      await gateway.remove()
      return 'it serves'
    },
    (error: Error) => error.message,
  )

/** How many connections of gateways there are, and how many of them are encrypted. */
async function connections() {
  const [counts] = await sql<[{ all: number; encrypted: number }]>`
    select count(*)::int as all, count(*) filter (where s.ssl)::int as encrypted
    from pg_stat_activity a join pg_stat_ssl s using (pid)
    where a.application_name = 'model-gateway'`
  return counts
}

const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
const headers = { authorization: `Bearer ${adaKey}`, 'content-type': 'application/json' }

test('sslmode=require encrypts every connection, and those that are lost cost no call', async () => {
  await using started = new AsyncDisposableStack()
  const gateway = await start('require')
  started.defer(gateway.remove)
  const statuses = new Set<number>()
  let calls = 0
  let on = true
  const callers = Array.from({ length: 8 }, async () => {
    while (on) {
      const url = `${gateway.url}/v1/chat/completions`
      const reply = await fetch(url, { method: 'POST', headers, body })
      await reply.text()
      statuses.add(reply.status)
      calls++
    }
  })
  const { all, encrypted } = await eventually(async () => {
    const counts = await connections()
    return counts.all > 1 ? counts : undefined
  })
  expect(encrypted).toBe(all)
  const tenMoreCalls = async () => {
    const before = calls
    await eventually(async () => calls >= before + 10 || undefined)
  }
  for (let n = 0; n < 3; n++) {
    await tenMoreCalls()
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'model-gateway'`
  }
  await tenMoreCalls()
  on = false
  await Promise.all(callers)
  expect([...statuses]).toEqual([200])
  await eventually(async () => {
    const [row] = await sql`select count(*)::int as rows from accounting.usage_cost_events`
    return row?.rows === calls || undefined
  })
}, 60_000)

test('sslmode=verify-full takes a certificate of an authority that it was told of, for the name in the URL', async () => {
  const gateway = await start('verify-full', { ca: authority() })
  await gateway.remove()
  const password = new URL(server.url).password
  for (const [options, reason] of [
    [{}, /NODE_EXTRA_CA_CERTS/],
    [{ ca: authority(), host: 'localhost' }, /localhost/],
  ] as const) {
    const said = await refusal('verify-full', options)
    expect(said).toMatch(reason)
    expect(said).not.toContain(password)
  }
}, 60_000)
