import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { routesOf } from '../apis/routes.fixture.ts'

const NOBODY = '00000000-0000-7000-8000-000000000000'
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const MADE = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

let gateway: TestGateway
let admin: AdminClient
/** `METHOD path`, with something in the place of each parameter. */
let routes: readonly string[]
let paths: ReadonlySet<string>
beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [{ id: 'm', routes: [{ provider: 'sim', upstream_model: 'u' }] }],
  })
  admin = await adminClient(gateway)
  routes = routesOf(gateway.registry).map((route) =>
    route.replaceAll(/:\w+/g, NOBODY).replace('*', 'page'),
  )
  const missing = ['/', '/nowhere', '/docs/gone.js', '/console/gone.js', '/v1/models/m']
  paths = new Set([...routes.map((route) => route.split(' ')[1] as string), ...missing])
})
afterAll(() => gateway?.stop())

interface Answer {
  /** `METHOD path` */
  readonly asked: string
  readonly status: number
  readonly id: string
}

/** Every path with every method, without and with a key. */
async function askAll(headers: Readonly<Record<string, string>>): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const path of paths) {
    for (const method of METHODS) {
      for (const key of [undefined, adaKey]) {
        const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
        const response = await fetch(gateway.url + path, {
          method,
          headers: { ...headers, ...authorization },
        })
        await response.bytes()
        const id = response.headers.get('x-request-id') ?? 'none'
        answers.push({ asked: `${method} ${path}`, status: response.status, id })
      }
    }
  }
  return answers
}

const withAnother = (answers: readonly Answer[], isRight: (id: string) => boolean) =>
  answers.filter(({ id }) => !isRight(id)).map((one) => `${one.asked} ${one.status}: ${one.id}`)

describe('every route, whatever the method and whatever comes of it,', () => {
  test('answers with the id of the caller', async () => {
    const answers = await askAll({ 'x-request-id': 'the-callers.own_id/1' })
    expect(withAnother(answers, (id) => id === 'the-callers.own_id/1')).toEqual([])
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses].toSorted()).toEqual([200, 204, 400, 401, 403, 404, 405])
  }, 60_000)

  test('answers with a new id when the caller sends none', async () => {
    const answers = await askAll({})
    expect(withAnother(answers, (id) => MADE.test(id))).toEqual([])
    expect(new Set(answers.map(({ id }) => id)).size).toBe(answers.length)
  }, 60_000)

  test('answers with a new id when the id of the caller is not allowed', async () => {
    const answers = await askAll({ 'x-request-id': 'a b' })
    expect(withAnother(answers, (id) => MADE.test(id))).toEqual([])
    // Routes without authentication accept any id; all others refuse such an id.
    const isPublic = (asked: string) =>
      /^(GET|HEAD) \/((healthz|readyz|docs|console)\b|$)/.test(asked)
    const wrong = answers.filter(({ asked, status }) => {
      if (!routes.includes(asked) && !routes.includes(asked.replace(/^\w+/, 'ALL'))) return false
      // The documentation site is built only for releases.
      if (asked.includes('/docs/guide')) return status !== 404 && status !== 200
      return status !== (isPublic(asked) ? 200 : 400)
    })
    expect(wrong).toEqual([])
  }, 60_000)
})

test('what an admin reads carries the id too', async () => {
  const statuses: number[] = []
  for (const route of routes.filter((one) => /^GET \/api\/v1\/(admin|me)\//.test(one))) {
    const path = route.replace('GET ', '')
    const { status, headers } = await admin.request('GET', path, undefined, {
      'x-request-id': 'of-an-admin',
    })
    expect([path, headers.get('x-request-id')]).toEqual([path, 'of-an-admin'])
    statuses.push(status)
  }
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(20)
})

describe('files', () => {
  test.each([
    ['as a part', { range: 'bytes=0-9' }, 206],
    ['beyond their end', { range: 'bytes=999999999-' }, 416],
    ['if they have changed', { 'if-none-match': '*' }, 200],
  ])('asked for %s carry it', async (_, headers, status) => {
    const response = await fetch(`${gateway.url}/docs/swagger-ui.css`, {
      headers: { ...(headers as Record<string, string>), 'x-request-id': 'mine' },
    })
    expect([response.status, response.headers.get('x-request-id')]).toEqual([status, 'mine'])
  })
})

describe('a call', () => {
  const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
  test.each([
    ['a reply', '/v1/chat/completions', chat, 200],
    ['a stream', '/v1/chat/completions', { ...chat, stream: true }, 200],
    ['an unknown model', '/v1/chat/completions', { ...chat, model: 'other' }, 404],
    ['half a body', '/v1/responses', '{"model":', 400],
    ['a body that is too large', '/mcp/x', 'x'.repeat(5 << 20), 413],
    ['a message', '/v1/messages', { ...chat, max_tokens: 9 }, 200],
  ])('with %s carries it', async (name, path, body, status) => {
    const id = name.replaceAll(' ', '-')
    const response = await gateway.post(path, body, { 'x-request-id': id })
    expect([response.status, response.headers.get('x-request-id')]).toEqual([status, id])
    await response.bytes()
  })

  test.each(['/v1/chat/completions', '/v1/messages'])(
    'to %s that is refused over its id leaves no row, because its owner is not known',
    async (path) => {
      const refused = await gateway.post(path, chat, { 'x-request-id': 'a b' })
      expect(refused.status).toBe(400)
      await refused.bytes()
      const later = (await gateway.post(path, {}, {})).headers.get('x-request-id')
      const ids = [refused.headers.get('x-request-id'), later] as string[]
      // Rows are written in order.
      const rows = await eventually(async () => {
        const found = await gateway.sql`
          select request_id from request_log.request_logs where request_id in ${gateway.sql(ids)}`
        return found.length > 0 ? found : undefined
      })
      expect([...rows]).toEqual([{ request_id: later }])
    },
  )
})
