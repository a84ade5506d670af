import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { chat, pluginFolder, simulated } from './plugin-files.fixture.ts'

const SEAMS = ['decode', 'admit', 'execute', 'respond'] as const

/** A middleware at every seam, which does what the header `x-do` says: `seam act`. */
const SETUP = `
  for (const around of ${JSON.stringify(SEAMS)}) {
    ctx.provide(middleware, {
      id: 'test-' + around, around,
      async handle(exchange, next) {
        const [seam, act] = (exchange.header('x-do') ?? '').split(' ')
        if (seam !== around) { await next(); return }
        const refusal = new GatewayError('invalid_request', 'refused at ' + around)
        switch (act) {
          case 'refuse-before': throw refusal
          case 'throw-before': throw new TypeError('planted')
          case 'hang-before': await new Promise(() => {})
          case 'silent': return
          case 'early': void next(); return
          case 'swallow': await next().catch(() => {}); return
        }
        await next()
        switch (act) {
          case 'refuse-after': throw refusal
          case 'throw-after': throw new TypeError('planted')
          case 'hang-after': await new Promise(() => {})
          case 'twice': await next()
        }
      },
    })
  }
  ctx.provide(middleware, {
    id: 'test-tenant', around: 'decode', after: ['test-decode'], appliesTo: ['chat_completions', 'messages'],
    async handle(exchange, next) {
      exchange.state.set('began', performance.now())
      const request = await next()
      if (exchange.header('x-transform') === null) return
      const before = request.body
      request.replaceBody({ ...before, temperature: 0.5, model: request.requestedModel.toLowerCase() })
      if (request.body.temperature !== 0.5 || !Object.isFrozen(request.body)) throw new Error('not in force')
      if (exchange.header('x-transform') === 'bad') request.replaceBody({ nothing: true })
      if (exchange.header('x-transform') === 'mutate') request.body.messages[0].content = 'other'
      if (exchange.header('x-transform') === 'keep') {
        const mine = { ...before }
        request.replaceBody(mine)
        setTimeout(() => { mine.model = 'nothing' }, 0)
        mine.model = 'nothing'
      }
    },
  })
  ctx.provide(middleware, {
    id: 'test-headers', around: 'respond',
    async handle(exchange, next) {
      exchange.setHeader('x-status-seen', String(exchange.status))
      exchange.setHeader('x-caller', exchange.caller?.owner.kind ?? 'nobody')
      exchange.setHeader('x-code', exchange.errorCode ?? 'none')
      exchange.setHeader('x-state', typeof exchange.state.get('began'))
      if (exchange.header('authorization') !== null) throw new Error('a credential is shown')
      const own = exchange.header('x-set')
      if (own !== null) exchange.setHeader(own, 'planted')
      await next()
      if (exchange.header('x-late') !== null) exchange.setHeader('x-late', 'yes')
    },
  })
`

const files = pluginFolder()
let gateway: TestGateway
beforeAll(async () => {
  const use = files.plugin('seams', { setup: SETUP })
  gateway = await startTestGateway({ ...simulated, plugins: [{ use: 'builtin:*' }, { use }] })
}, 30_000)
afterAll(async () => {
  await gateway?.stop()
  files.remove()
})

async function ask(headers: Record<string, string>, body: object = chat) {
  const id = crypto.randomUUID()
  const reply = await gateway.post('/v1/chat/completions', body, { 'x-request-id': id, ...headers })
  const text = await reply.text()
  const logged = await eventually(async () => {
    const rows = await gateway.sql`
      select request_id, status_code, error_code from request_log.request_logs where request_id = ${id}`
    return rows.length > 0 ? rows : undefined
  })
  const [ledger] = await gateway.sql`
    select count(*)::int as rows from accounting.usage_cost_events where request_id = ${id}`
  const faults = gateway.logs.filter((line) => line.request_id === id)
  return { id, reply, text, logged, rows: ledger?.rows as number, faults }
}

describe.each([false, true])('with stream: %p', (stream) => {
  const body = stream ? { ...chat, stream } : chat

  test('middlewares that do nothing do not change a request', async () => {
    const { reply, text, logged, rows } = await ask({}, body)
    expect(reply.status).toBe(200)
    expect(text).toContain(stream ? '[DONE]' : '"object":"chat.completion"')
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'x-status-seen': '200',
      'x-caller': 'user',
      'x-code': 'none',
      'x-state': 'number',
    })
    expect(logged).toHaveLength(1)
    expect(rows).toBe(1)
  })

  test.each([
    ['decode', 'refuse-before', 400, 0],
    ['decode', 'refuse-after', 400, 0],
    ['decode', 'throw-before', 500, 0],
    ['decode', 'throw-after', 500, 0],
    ['decode', 'silent', 500, 0],
    ['decode', 'twice', 500, 0],
    ['admit', 'refuse-before', 400, 0],
    ['admit', 'refuse-after', 400, 0],
    ['admit', 'throw-after', 500, 0],
    ['admit', 'silent', 500, 0],
    ['execute', 'refuse-before', 400, 0],
    ['execute', 'throw-before', 500, 0],
    ['execute', 'silent', 500, 0],
    ['execute', 'refuse-after', 400, 1],
    ['execute', 'throw-after', 500, 1],
    ['execute', 'twice', 500, 1],
    ['respond', 'throw-before', 500, 1],
    ['respond', 'refuse-before', 500, 1],
    ['respond', 'throw-after', 500, 1],
    ['respond', 'silent', 500, 1],
    ['decode', 'early', 200, 1],
    ['admit', 'early', 200, 1],
    ['execute', 'early', 200, 1],
    ['respond', 'early', 200, 1],
  ] as const)('%s %s: the caller gets %d, and the ledger %d rows', (seam, act, status, rows) =>
    expectFate({ seam, act, status, rows }, body),
  )

  test('a middleware that hangs fails the request after the deadline, at every seam', async () => {
    const fates = [
      { seam: 'decode', act: 'hang-before', status: 500, rows: 0 },
      { seam: 'admit', act: 'hang-after', status: 500, rows: 0 },
      { seam: 'execute', act: 'hang-before', status: 500, rows: 0 },
      { seam: 'execute', act: 'hang-after', status: 500, rows: 1 },
      { seam: 'respond', act: 'hang-after', status: 500, rows: 1 },
    ] as const
    await Promise.all(fates.map((fate) => expectFate(fate, body)))
  }, 30_000)
})

interface Fate {
  readonly seam: (typeof SEAMS)[number]
  readonly act: string
  readonly status: number
  readonly rows: number
}

async function expectFate({ seam, act, status, rows }: Fate, body: object) {
  const seen = await ask({ 'x-do': `${seam} ${act}` }, body)
  expect(seen.reply.status).toBe(status)
  expect(seen.rows).toBe(rows)
  expect(seen.logged).toMatchObject([{ status_code: status }])
  expect(seen.text.includes('planted')).toBe(false)
  if (status === 200) return
  expect(seen.text).toContain(seen.id)
  const faults = seen.faults.filter(({ msg }) => msg === 'a middleware failed')
  const told = status === 500 ? [{ plugin: 'plugin.seams', middleware: `test-${seam}`, seam }] : []
  expect(faults).toMatchObject(told)
  // The id of a request that was not charged can be used again.
  if (rows > 0) return
  const again = await gateway.post('/v1/chat/completions', chat, { 'x-request-id': seen.id })
  expect(again.status).toBe(200)
}

test('a middleware cannot hide the failure of its step', async () => {
  const invalid = await ask({ 'x-do': 'decode swallow' }, { model: 'm' })
  expect(invalid.reply.status).toBe(400)
  const first = await ask({})
  const again = { 'x-request-id': first.id, 'x-do': 'admit swallow' }
  const repeated = await gateway.post('/v1/chat/completions', chat, again)
  expect(repeated.status).toBe(400)
  expect(await repeated.text()).toContain('request')
})

test('an error keeps its code and headers when a middleware of respond fails', async () => {
  const { reply, text } = await ask(
    { 'x-do': 'respond throw-before' },
    { ...chat, model: 'nothing' },
  )
  expect(reply.status).toBe(404)
  expect(text).toContain('model_not_found')
})

test('errors get the headers of respond, too, before the caller is known', async () => {
  const reply = await gateway.post('/v1/chat/completions', chat, { authorization: 'Bearer gwk_x' })
  expect(reply.status).toBe(401)
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'x-caller': 'nobody',
    'x-code': 'invalid_api_key_format',
    'www-authenticate': 'Bearer',
  })
})

test('a body can be replaced at decode, and only by a copy', async () => {
  const changed = await ask({ 'x-transform': 'yes' }, { ...chat, model: 'M' })
  expect(changed.reply.status).toBe(200)
  const [row] = await eventually(async () => {
    const rows = await gateway.sql`
      select p.request_json from request_log.request_log_payloads p
      join request_log.request_logs l on l.id = p.request_log_id where l.request_id = ${changed.id}`
    return rows.length > 0 ? rows : undefined
  })
  expect(JSON.stringify(row)).toContain('temperature')
  expect((await ask({ 'x-transform': 'keep' })).reply.status).toBe(200)
  expect((await ask({ 'x-transform': 'mutate' })).reply.status).toBe(500)
  const bad = await ask({ 'x-transform': 'bad' })
  expect(bad.reply.status).toBe(500)
  expect(JSON.stringify(bad.faults)).toContain('replaced the body by an invalid one')
})

test.each([
  ['content-type', 500],
  ['X-Request-Id', 500],
  ['bad name', 500],
  ['x-fine', 200],
])('setting the header %p gives %d', async (name, status) => {
  expect((await ask({ 'x-set': name })).reply.status).toBe(status)
})

test('headers cannot be set after next has been called', async () => {
  expect((await ask({ 'x-late': 'yes' })).reply.status).toBe(500)
})

test('a middleware sees only the surfaces that it applies to', async () => {
  const body = { model: 'm', input: 'hello' }
  const reply = await gateway.post('/v1/embeddings', body, {})
  expect(reply.status).toBe(200)
  expect(reply.headers.get('x-state')).toBe('undefined')
  const client = gateway.openai(adaKey)
  expect((await client.responses.create({ model: 'm', input: 'hello' })).output_text).not.toBe('')
})
