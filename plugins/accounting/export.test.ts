import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { adminClient, adminPassword } from '../../test/harness/admin.ts'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { createDatabaseProxy, type DatabaseProxy } from '../../test/harness/database-proxy.ts'
import { eventually } from '../../test/harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../../test/harness/process.ts'
import { memoryMb } from '../../test/harness/process-tree.ts'
import { openTransactions } from './testing.ts'

/** About 60 MB of text. */
const CHARGES = 120_000
const MOST_MB = 60
const PATH = '/api/v1/admin/spend/focus.csv?start=2026-01-01&end=2026-01-30'

let database: TestDatabase
let proxy: DatabaseProxy
let gateway: GatewayProcess
let cookie: string

beforeAll(async () => {
  database = await createTestDatabase('started')
  proxy = await createDatabaseProxy(database.url)
  gateway = await spawnGateway({ providers: [], models: [] }, { databaseUrl: proxy.url })
  await database.sql.unsafe(`
    insert into accounting.usage_rollups (bucket_start, owner_kind, owner_id, model_key,
      resolved_model_key, provider_key, upstream_model, pricing_status, requests, cost_pico_usd)
    select '2026-01-01'::timestamptz + interval '1 day' * (n % 30), 'user', 'owner-' || n / 30, 'm',
      'm', 'p', 'vendor/model', 'priced', 1, n
    from generate_series(0, ${CHARGES} - 1) as n`)
  const { email } = await adminClient(gateway)
  const login = await fetch(`${gateway.url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.url },
    body: JSON.stringify({ email, password: adminPassword }),
  })
  cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
}, 60_000)
afterAll(async () => {
  proxy.pass()
  await gateway.remove()
  proxy.close()
  await database.drop()
})

/** Requests the export, and reads only its first bytes until resumed. */
function ask() {
  const { hostname, port } = new URL(gateway.url)
  const caller = connect(Number(port), hostname)
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let text = ''
  caller.once('data', () => {
    caller.pause()
    begun.resolve()
  })
  caller.on('data', (bytes) => {
    text += bytes.toString()
    // The last chunk of a body.
    if (text.endsWith('\r\n0\r\n\r\n')) ended.resolve()
  })
  caller.on('error', ended.reject)
  caller.on('close', () => ended.reject(new Error('closed without an end')))
  ended.promise.catch(() => {})
  caller.write(`GET ${PATH} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncookie: ${cookie}\r\n\r\n`)
  return { caller, begun: begun.promise, ended: ended.promise, text: () => text }
}

/** Waits for this number of open transactions, because the gateway also opens short ones. */
const transactions = (open: number) =>
  eventually(async () => (await openTransactions(database.sql)) === open || undefined)

test('a large export is not held in memory, even if it is read slowly', async () => {
  const before = memoryMb(gateway.pid, 'peak')
  const { caller, begun, ended, text } = ask()
  await begun
  await Bun.sleep(500)
  await transactions(1)
  caller.resume()
  await ended
  caller.destroy()
  expect(text().match(/,Gateway,USD,/g)?.length).toBe(CHARGES)
  const grown = memoryMb(gateway.pid, 'peak') - before
  console.log(`${text().length >> 20} MB were read, memory grew by ${grown.toFixed(0)} MB`)
  expect(grown).toBeLessThan(MOST_MB)
  await transactions(0)
}, 60_000)

test('a client that leaves an export releases its connection', async () => {
  const { caller, begun } = ask()
  await begun
  caller.destroy()
  await transactions(0)
}, 30_000)

test('an export is aborted when the database is lost, and never ends as a shorter file', async () => {
  const { caller, begun, ended } = ask()
  await begun
  proxy.reset()
  caller.resume()
  await expect(ended).rejects.toThrow()
  const told = `GET ${PATH.split('?')[0]}: streaming the response failed`
  await eventually(async () => gateway.logs.find(({ msg }) => msg === told))
  // The next export is complete, unless it gets a lost connection.
  await eventually(async () => {
    const next = ask()
    await next.begun
    const served = next.text().startsWith('HTTP/1.1 200')
    next.caller.resume()
    if (served) await next.ended
    next.caller.destroy()
    return served || undefined
  })
}, 30_000)

test('an export is refused if the database is unreachable from the start', async () => {
  proxy.refuse()
  const response = await fetch(`${gateway.url}${PATH}`, { headers: { cookie } })
  proxy.pass()
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ error: { code: 'store_unavailable' } })
}, 30_000)
