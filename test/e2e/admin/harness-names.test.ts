/** Callers that no rule knows are listed, and named by an administrator on all replicas. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

const OBSERVABILITY = '/api/v1/admin/observability'
const NAMES = `${OBSERVABILITY}/harness-names`
const config = {
  providers: [{ id: 'sim', type: 'simulator' }],
  models: [{ id: 'm', routes: [{ provider: 'sim', upstream_model: 'm' }] }],
  request_logging: {
    harnesses: [{ key: 'night_job', label: 'Night job', contains: ['nightly'] }],
  },
}

interface Callers {
  readonly items: readonly { starts: string; user_agent: string; request_count: number }[]
}

let gateway: TestGateway
let other: TestGateway
let admin: AdminClient
beforeAll(async () => {
  gateway = await startTestGateway(config)
  other = await startTestGateway(config, { databaseUrl: gateway.databaseUrl })
  admin = await adminClient(gateway)
})
afterAll(async () => {
  await other?.stop()
  await gateway?.stop()
})

/** The harness under which a call with this User-Agent is logged. */
async function harnessOf(userAgent: string, by = gateway): Promise<string> {
  const said = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
  const reply = await by.post('/v1/chat/completions', said, { 'user-agent': userAgent })
  await reply.text()
  const id = reply.headers.get('x-request-id')
  const row = await eventually(async () => {
    const [row] = await gateway.sql`
      select agent_harness_key from request_log.request_logs where request_id = ${id}`
    return row
  })
  return row.agent_harness_key as string
}

const unknown = async () =>
  (await admin.get<Callers>(`${OBSERVABILITY}/unknown-callers`)).items.map(
    ({ starts, user_agent, request_count }) => [starts, user_agent, request_count],
  )

test('an unknown caller is listed until it has a name, which holds from then on', async () => {
  for (const userAgent of ['HouseBot/1.0 (linux)', 'HouseBot/1.1', 'other', 'codex_exec/1', '']) {
    await harnessOf(userAgent)
  }
  expect(await harnessOf('job/1 nightly')).toBe('night_job')
  expect(await unknown()).toEqual([
    ['housebot/', 'HouseBot/1.1', 2],
    ['other', 'other', 1],
  ])

  const name = await admin.put(NAMES, { starts: 'HouseBot/', label: 'House bot' })
  expect(name).toMatchObject({
    starts: 'housebot/',
    agent_harness_key: 'house_bot',
    agent_harness_label: 'House bot',
  })
  expect(await unknown()).toEqual([['other', 'other', 1]])
  expect(await harnessOf('housebot/2')).toBe('house_bot')
  await eventually(async () =>
    (await harnessOf('HouseBot/2', other)) === 'house_bot' ? true : undefined,
  )
})

test('a more exact name goes before a shorter one, and a config before both', async () => {
  await admin.put(NAMES, { starts: 'housebot/2', label: 'House bot 2' })
  await admin.put(NAMES, { starts: 'job/', label: 'Job' })
  expect(await harnessOf('HouseBot/2.1')).toBe('house_bot_2')
  expect(await harnessOf('HouseBot/3')).toBe('house_bot')
  expect(await harnessOf('job/1 nightly')).toBe('night_job')
  expect(await harnessOf('job/1')).toBe('job')
})

test('a name can be another one, and be taken away; the audit log has it all', async () => {
  const starts = 'mine/'
  await admin.put(NAMES, { starts, label: 'Mine' })
  await admin.put(NAMES, { starts, label: 'aider' })
  expect(await harnessOf('mine/1')).toBe('aider')
  await admin.post(`${NAMES}/remove`, { starts: 'Mine/' })
  expect(await harnessOf('mine/1')).toBe('unknown')
  const { items } = await admin.get<{ items: { starts: string }[] }>(NAMES)
  expect(items.map((name) => name.starts)).toEqual(['housebot/', 'housebot/2', 'job/'])
  const log = await admin.get<{ items: { action: string; actor_email: string }[] }>(
    `/api/v1/admin/audit-log?object_kind=harness_name&object_id=${encodeURIComponent(starts)}`,
  )
  expect(log.items.map(({ action }) => action)).toEqual([
    'harness_name.remove',
    'harness_name.set',
    'harness_name.set',
  ])
})

test('what cannot be a name is refused', async () => {
  for (const body of [
    { starts: '', label: 'A' },
    { starts: 'a/', label: '' },
    { starts: 'a/', label: '模型' },
    { starts: 'a/', label: 'unknown' },
    { starts: 'a\n', label: 'A' },
  ]) {
    const [status, code] = await admin.refused('PUT', NAMES, body)
    expect([status, code]).toEqual([422, 'validation_failed'])
  }
  const [status, code] = await admin.refused('POST', `${NAMES}/remove`, { starts: 'gone' })
  expect([status, code]).toEqual([404, 'not_found'])
})
