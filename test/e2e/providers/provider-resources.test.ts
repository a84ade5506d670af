import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI, { toFile } from 'openai'
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts'
import { docsBlocks } from '../../harness/docs-page.ts'
import {
  ada,
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../harness/gateway.ts'
import {
  ENDLESS,
  type ResourceUpstream,
  startResourceUpstream,
} from '../../harness/upstream-resources.ts'

const PAGE = 'docs/batches.md'
const bobKey = testKey('bob')
const poorKey = testKey('poor')
/** One line of a batch: 1,000 × 1 USD/M + 100 × 4 USD/M at the prices of batches. */
const LINE_PICO_USD = '1400000000'
/** A response: 2,000 × 2 USD/M + 300 × 8 USD/M at the usual prices. */
const RESPONSE_PICO_USD = '6400000000'

let database: TestDatabase
let gateway: TestGateway
let east: ResourceUpstream
let west: ResourceUpstream

const provider = ({ url }: ResourceUpstream, id: string) => ({
  id,
  type: 'generic_compat',
  base_url: url,
  auth: { mode: 'bearer', token: `literal.key-of-${id}` },
  pricing_provider_id: 'test',
})
const price = (model: string) => ({
  pricing_provider_id: 'test',
  model,
  input_usd_per_million: '2',
  output_usd_per_million: '8',
  tiers: { batch: { input_usd_per_million: '1', output_usd_per_million: '4' } },
})
const config = (providers = ['east', 'west']) => ({
  providers: [
    ...(providers.includes('east') ? [provider(east, 'east')] : []),
    ...(providers.includes('west') ? [provider(west, 'west')] : []),
  ],
  models: [
    { id: 'small', routes: [{ provider: providers[0], upstream_model: 'up-small' }] },
    { id: 'large', routes: [{ provider: providers[0], upstream_model: 'up-large' }] },
    { id: 'guarded', routes: [{ provider: providers[0], upstream_model: 'up-guarded' }] },
    { id: 'afar', routes: [{ provider: 'west', upstream_model: 'up-afar' }] },
  ],
  guardrails: {
    default: { enabled: false },
    model_routes: {
      [`guarded/${providers[0]}/up-guarded`]: {
        enabled: true,
        mode: 'deny',
        packs: ['core.shell'],
      },
    },
  },
  pricing: { overrides: [price('up-small'), price('up-large'), price('up-afar')] },
  users: [
    ada,
    person('Bob', bobKey, ['small']),
    { ...person('Poor', poorKey, ['small']), budget: { cadence: 'daily', amount_usd: '0.000001' } },
  ],
})
function person(name: string, key: string, models: readonly string[]) {
  const api_keys = [{ name: 'test', value: `literal.${key}`, models }]
  return { name, email: `${name.toLowerCase()}@example.com`, api_keys }
}

beforeAll(async () => {
  east = startResourceUpstream('east')
  west = startResourceUpstream('west')
  database = await createTestDatabase('started')
  gateway = await startTestGateway(config(), { databaseUrl: database.url })
})
afterAll(async () => {
  await gateway?.stop()
  await east?.stop()
  await west?.stop()
  await database?.drop()
})
async function restart(next = config()) {
  await gateway.stop()
  gateway = await startTestGateway(next, { databaseUrl: database.url })
}

const line = (custom_id: string, model: string, more = {}) =>
  JSON.stringify({
    ...{ custom_id, method: 'POST', url: '/v1/chat/completions' },
    body: {
      model,
      messages: [{ role: 'user', content: 'hi' }],
      big: 12345678901234567890n.toString(),
      ...more,
    },
  })
const east_ = { headers: { 'x-gateway-provider': 'east' } }
const uploadTo = async (client: OpenAI, lines: readonly string[], options: object = east_) =>
  await client.files.create(
    { file: await toFile(Buffer.from(`${lines.join('\n')}\n`), 'in.jsonl'), purpose: 'batch' },
    options,
  )
const batchOf = (client: OpenAI, input_file_id: string) =>
  client.batches.create({
    ...{ input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' },
    metadata: { team: 'search' },
  })
/** Makes the gateway look now, as it would in a minute. */
const hurry = () => gateway.sql`
  update provider_resources.batches set next_look_at = now(), claimed_until = '-infinity'`
const rowsOf = (id: string) => gateway.sql<
  {
    request_id: string
    resolved_model_key: string
    operation: string
    pricing_status: string
    service_tier: string | null
    cost: string
  }[]
>`
  select request_id, resolved_model_key, operation, pricing_status, service_tier, cost_pico_usd as cost
  from accounting.usage_cost_events where request_id like ${`${id}%`} order by request_id`
/** Operation and cost of the only row, once nothing is left to charge. */
async function chargedOnce(id: string) {
  await eventually(async () => {
    const [row] = await gateway.sql`
      select 1 from provider_resources.responses where response_id = ${id} and pending is null`
    return row
  })
  const rows = await rowsOf(id)
  expect(rows).toHaveLength(1)
  return [rows[0]?.operation, rows[0]?.cost]
}
const settled = (id: string) =>
  eventually(async () => {
    const [row] = await gateway.sql`
      select 1 from provider_resources.batches where batch_id = ${id} and settled_at is not null`
    return row
  })
const refusal = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof OpenAI.APIError) return { status: error.status, message: error.message }
  throw new Error(`no refusal: ${error}`)
}

test('a batch from its upload to its output, priced line by line and for its owner alone', async () => {
  const client = gateway.openai(adaKey)
  const bob = gateway.openai(bobKey)
  const file = await uploadTo(client, [line('a', 'small'), line('b', 'large'), line('c', 'small')])
  expect(file).toMatchObject({ object: 'file', purpose: 'batch', filename: 'in.jsonl' })
  const sent = (east.files.get(file.id) ?? '').trim().split('\n')
  expect(sent).toEqual([line('a', 'up-small'), line('b', 'up-large'), line('c', 'up-small')])
  const [upload] = east.calls.filter(({ method, path }) => method === 'POST' && path === 'files')
  expect(upload).toMatchObject({ authorization: 'Bearer key-of-east', body: 'file,purpose' })
  expect(Number(upload?.contentLength)).toBeGreaterThan(0)

  const batch = await batchOf(client, file.id)
  expect(batch).toMatchObject({ status: 'validating', metadata: { team: 'search' } })
  east.end(batch.id, 'completed')
  const done = await client.batches.retrieve(batch.id)
  expect(done.status).toBe('completed')
  const output = String(done.output_file_id)
  const lines = (await (await client.files.content(output)).text()).split('\n')
  expect(lines.map((text) => JSON.parse(text).custom_id)).toEqual(['a', 'b', 'c'])
  await settled(batch.id)
  const charged = {
    operation: 'batches',
    pricing_status: 'priced',
    service_tier: 'batch',
    cost: LINE_PICO_USD,
  }
  expect([...(await rowsOf(batch.id))]).toEqual([
    { ...charged, request_id: `${batch.id}:a`, resolved_model_key: 'small' },
    { ...charged, request_id: `${batch.id}:b`, resolved_model_key: 'large' },
    { ...charged, request_id: `${batch.id}:c`, resolved_model_key: 'small' },
  ])

  expect((await client.files.list()).data.map(({ id }) => id)).toEqual([output, file.id])
  expect((await client.files.list({ purpose: 'batch' })).data).toHaveLength(1)
  expect((await client.batches.list()).data.map(({ id }) => id)).toContain(batch.id)
  expect((await bob.files.list()).data).toEqual([])
  expect((await bob.batches.list()).data).toEqual([])
  const asked = await Promise.all(
    [
      bob.files.retrieve(file.id),
      bob.files.content(output),
      bob.files.delete(file.id),
      bob.batches.retrieve(batch.id),
      bob.batches.cancel(batch.id),
      batchOf(bob, file.id),
    ].map(refusal),
  )
  expect(asked.map(({ status }) => status)).toEqual(Array(6).fill(404))
  expect(await client.files.delete(file.id)).toMatchObject({ deleted: true })
  expect(await refusal(client.files.retrieve(file.id))).toMatchObject({ status: 404 })
  const logged = await eventually(async () => {
    const found = await gateway.sql<{ operation: string; status_code: number }[]>`
      select distinct operation, status_code from request_log.request_logs order by 1, 2`
    return found.length === 4 ? found : undefined
  })
  expect([...logged]).toEqual([
    { operation: 'batches', status_code: 200 },
    { operation: 'batches', status_code: 404 },
    { operation: 'files', status_code: 200 },
    { operation: 'files', status_code: 404 },
  ])
})

test('a gateway that dies, and a provider that leaves, cost nothing twice and nothing never', async () => {
  const client = gateway.openai(adaKey)
  const batch = await batchOf(
    client,
    (await uploadTo(client, [line('x', 'small'), line('y', 'small')])).id,
  )
  const response = await client.responses.create({ model: 'afar', input: 'hi', background: true })
  // One row is written, and the process is gone before it can note that.
  await gateway.sql`
    insert into accounting.usage_cost_events
    select (jsonb_populate_record(e, jsonb_build_object('request_id', ${`${batch.id}:x`}::text,
      'event_id', gen_random_uuid()))).* from accounting.usage_cost_events e
    where operation = 'batches' limit 1`
  await restart(config(['west']))
  east.end(batch.id, 'expired')
  west.endResponse(response.id, 'completed')
  await hurry()
  const left = gateway.openai(adaKey)
  expect(await refusal(left.batches.retrieve(batch.id))).toMatchObject({
    status: 409,
    message: expect.stringContaining("the provider 'east', which is no longer in the config"),
  })
  expect((await left.batches.list()).data.map(({ id }) => id)).toContain(batch.id)
  await eventually(async () =>
    gateway.logs.find(
      ({ msg, batch_id }) => msg === 'a batch cannot be charged yet' && batch_id === batch.id,
    ),
  )
  // Nobody asks for the response but the gateway itself.
  expect(await chargedOnce(response.id)).toEqual(['responses', RESPONSE_PICO_USD])

  await restart()
  await hurry()
  await settled(batch.id)
  expect((await rowsOf(batch.id)).map(({ request_id, cost }) => [request_id, cost])).toEqual([
    [`${batch.id}:x`, LINE_PICO_USD],
    [`${batch.id}:y`, LINE_PICO_USD],
  ])
  expect(await gateway.sql`select from accounting.budget_rejected_charges`).toHaveLength(0)
})

test('a call without an answer: its batch is found and charged', async () => {
  const client = gateway.openai(adaKey)
  const batch = await batchOf(client, (await uploadTo(client, [line('only', 'small')])).id)
  // As it is before the provider has answered.
  await gateway.sql`
    update provider_resources.batches set batch_id = 'pending:1', object = null where batch_id = ${batch.id}`
  east.end(batch.id, 'completed')
  await hurry()
  await settled(batch.id)
  expect(await rowsOf(batch.id)).toHaveLength(1)
})

test('what cannot be run is refused before anything is sent', async () => {
  const client = gateway.openai(adaKey)
  const bob = gateway.openai(bobKey)
  const before = east.calls.length + west.calls.length
  for (const [who, lines, options, message] of [
    [
      client,
      [line('a', 'small'), line('b', 'nowhere')],
      east_,
      "line 2: model 'nowhere' does not exist",
    ],
    [
      client,
      [line('a', 'small'), '', line('b', 'afar')],
      east_,
      "line 3: the model 'afar' has no route to the provider 'east'",
    ],
    [bob, [line('a', 'large')], {}, 'line 1: '],
    [
      client,
      [line('a', 'small'), line('a', 'small')],
      east_,
      "line 2: custom_id 'a' is used twice",
    ],
    [client, [line('a', 'small'), '{"custom_id":'], east_, 'line 2: is not JSON'],
    [client, [], east_, 'has no lines'],
    [
      client,
      [line('a', 'guarded')],
      east_,
      "line 1: the guardrail policy 'model_route:guarded/east/",
    ],
    [client, [line('a', 'small')], {}, "several providers have a files API ('east', 'west')"],
    [client, [line('a', 'small')], { query: { provider: 'north' } }, "'north' is not a provider"],
  ] as const) {
    const { status, message: said } = await refusal(uploadTo(who, lines, options))
    expect(said).toContain(message)
    expect([400, 403, 404]).toContain(status as number)
  }
  const noFile = await gateway.post('/v1/files', form({ purpose: 'batch' }), multipart)
  expect([noFile.status, await noFile.text()]).toEqual([
    400,
    expect.stringContaining('has no file'),
  ])
  expect(east.calls.length + west.calls.length).toBe(before)

  const poor = gateway.openai(poorKey)
  const file = await uploadTo(poor, [line('a', 'small')], {})
  const spent = await poor.responses.create({ model: 'small', input: 'hi' })
  expect(spent.status).toBe('completed')
  const calls = east.calls.length
  expect(await refusal(batchOf(poor, file.id))).toMatchObject({ status: 429 })
  expect(east.calls.length).toBe(calls)
})

const multipart = {
  'content-type': 'multipart/form-data; boundary=b',
  'x-gateway-provider': 'east',
}
const form = (fields: Record<string, string>) =>
  Object.entries(fields)
    .map(
      ([name, value]) =>
        `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    .join('')
    .concat('--b--\r\n')

test('a large file streams through, and its provider field stays here', async () => {
  const size = 200 * 1024 * 1024
  const folder = mkdtempSync(join(tmpdir(), 'large-'))
  const path = join(folder, 'large.bin')
  writeFileSync(path, '')
  truncateSync(path, size)
  Bun.gc(true)
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 5)
  // A process of its own, whose memory is not looked at.
  const curl = ['curl', '-sS', '--fail-with-body', `${gateway.url}/v1/files`]
  const form = ['-F', `file=@${path}`, '-F', 'purpose=user_data', '-F', 'provider=west']
  const child = Bun.spawn([...curl, '-H', `authorization: Bearer ${adaKey}`, ...form])
  expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({ object: 'file' })
  clearInterval(watch)
  rmSync(folder, { recursive: true })
  const seen = west.calls.findLast(({ path }) => path === 'files')
  const received = Number(seen?.body.split(' ')[0])
  expect(seen?.contentLength).toBe(String(received))
  expect(received).toBeGreaterThan(size)
  expect(received).toBeLessThan(size + 1_000)
  // Pieces that were read and are not collected yet take up to 100 MB: this process reads the file twice.
  expect(most - before).toBeLessThan(size * 0.75)
})

test('a caller that leaves ends the call of the provider', async () => {
  const client = gateway.openai(adaKey)
  const file = await toFile(Buffer.from('x'), ENDLESS)
  const { id } = await client.files.create({ file, purpose: 'user_data' }, east_)
  const content = await client.files.content(id)
  const reader = (content.body as ReadableStream<Uint8Array>).getReader()
  expect((await reader.read()).value?.length).toBeGreaterThan(0)
  await reader.cancel()
  await eventually(async () => (east.left > 0 ? true : undefined))
})

test('a stored response is read, cancelled and deleted where it was made, by its owner', async () => {
  const client = gateway.openai(adaKey)
  const bob = gateway.openai(bobKey)
  const made = await client.responses.create({ model: 'afar', input: 'hi' })
  const got = await client.responses.retrieve(made.id)
  expect(got).toMatchObject({ id: made.id, model: 'afar', status: 'completed' })
  expect((await client.responses.inputItems.list(made.id)).data).toMatchObject([{ role: 'user' }])
  const events: string[] = []
  for await (const event of await client.responses.retrieve(made.id, {
    stream: true,
    starting_after: 3,
  })) {
    events.push(event.type)
  }
  expect(events).toEqual(['response.completed'])
  expect(west.calls.at(-1)?.path).toContain('starting_after=3')
  expect(await refusal(bob.responses.retrieve(made.id))).toMatchObject({ status: 404 })
  expect(await refusal(client.responses.retrieve('resp_unknown'))).toMatchObject({ status: 404 })
  const judged = await client.responses.create({ model: 'guarded', input: 'hi' })
  expect(await refusal(client.responses.retrieve(judged.id))).toMatchObject({ status: 403 })
  await client.responses.delete(made.id)
  expect(await refusal(client.responses.retrieve(made.id))).toMatchObject({ status: 404 })
  const unstored = await client.responses.create({ model: 'afar', input: 'hi', store: false })
  expect(await refusal(client.responses.retrieve(unstored.id))).toMatchObject({ status: 404 })
})

test('a response in the background is charged once, when it has ended', async () => {
  const client = gateway.openai(adaKey)
  const { id, status } = await client.responses.create({
    model: 'afar',
    input: 'hi',
    background: true,
  })
  expect(status).toBe('queued')
  expect(await refusal(client.responses.delete(id))).toMatchObject({ status: 409 })
  west.endResponse(id, 'completed')
  const asked = await Promise.all([client.responses.retrieve(id), client.responses.retrieve(id)])
  expect(asked.map(({ usage }) => usage?.output_tokens)).toEqual([300, 300])
  expect(await chargedOnce(id)).toEqual(['responses', RESPONSE_PICO_USD])
  await client.responses.delete(id)
  const missing = await gateway.sql`
    select from accounting.usage_cost_events where pricing_status = 'usage_missing'`
  expect(missing).toHaveLength(0)
})

test('the program of the guide runs as printed', async () => {
  const [program] = docsBlocks().filter(({ page, language }) => page === PAGE && language === 'ts')
  // Next to this test, from where the client can be imported.
  const file = new URL(`batches-${process.pid}.tmp.ts`, import.meta.url).pathname
  const folder = mkdtempSync(join(tmpdir(), 'batches-'))
  writeFileSync(file, program?.text.replace("'openai' }", "'east' }") ?? '')
  writeFileSync(join(folder, 'questions.jsonl'), line('q', 'small'))
  const { batches } = gateway.openai(adaKey)
  const newest = async () => (await batches.list({ limit: 1 })).data[0]?.id
  const earlier = await newest()
  try {
    const child = Bun.spawn([process.execPath, file], {
      cwd: folder,
      env: { ...process.env, GATEWAY_URL: gateway.url, GATEWAY_API_KEY: adaKey },
      stderr: 'inherit',
    })
    const made = await eventually(async () => {
      const id = await newest()
      return id === earlier ? undefined : id
    }, 30_000)
    east.end(made, 'completed')
    expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({ custom_id: 'q' })
    expect(await child.exited).toBe(0)
  } finally {
    rmSync(file)
    rmSync(folder, { recursive: true })
  }
})
