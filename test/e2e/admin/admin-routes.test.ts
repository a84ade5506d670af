import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import {
  type AdminClient,
  adminClient,
  keyClient,
  type Operation,
  readOperations,
} from '../../harness/admin.ts'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'

let gateway: TestGateway
let admin: AdminClient
let user: AdminClient
let operations: readonly Operation[]
beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [
      {
        id: 'demo',
        tags: ['fast'],
        routes: [
          {
            provider: 'sim',
            upstream_model: 'simulator-1',
            extra_headers: { 'x-hidden': 'secret value' },
          },
        ],
      },
      { id: 'short', alias_of: 'demo', allowlist: { users: ['ada@example.com'], teams: [] } },
    ],
  })
  admin = await adminClient(gateway)
  user = await adminClient(gateway, { email: 'user@example.com', role: 'user' })
  operations = await readOperations(gateway.url)
})
afterAll(() => gateway.stop())

const UUID = '00000000-0000-7000-8000-000000000000'
const target = ({ path }: Operation) => path.replaceAll(/\{\w+\}/g, UUID)
const isOpen = ({ security }: Operation) => security.length === 0
const unsafe = ({ method }: Operation) => method !== 'GET'
const takesKeys = ({ security }: Operation) => security.some((one) => 'api_key' in one)
const forAdmins = ({ path }: Operation) => path.startsWith('/api/v1/admin/')

/** Codes by operation, for those that do not answer as they should. */
async function others(
  of: (operation: Operation) => boolean,
  ask: (operation: Operation) => Promise<{ status: number; error?: { code: string } | undefined }>,
  wanted: string,
) {
  const chosen = operations.filter(of)
  expect(chosen.length).toBeGreaterThan(0)
  const wrong: string[] = []
  for (const operation of chosen) {
    const { status, error } = await ask(operation)
    const got = `${status} ${error?.code}`
    if (got !== wanted) wrong.push(`${operation.method} ${operation.path}: ${got}`)
  }
  return wrong
}

describe('every route of the document', () => {
  test('belongs to somebody: the administration is for platform admins', () => {
    const wrong = operations.filter((one) => forAdmins(one) && (isOpen(one) || takesKeys(one)))
    expect(wrong).toEqual([])
    expect(operations.filter(isOpen).map(({ path }) => path)).toEqual([
      '/api/v1/auth/login',
      '/api/v1/auth/logout',
    ])
    expect(operations.filter(forAdmins).length).toBeGreaterThan(25)
  })

  test('is refused to those who are not signed in', async () => {
    const nobody = await keyClient(gateway.url)
    const ask = (one: Operation) => nobody.request(one.method, target(one))
    expect(await others((one) => !isOpen(one), ask, '401 session_required')).toEqual([])
  })

  test('of the administration is refused to users, and to API keys', async () => {
    const ask = (one: Operation) => user.request(one.method, target(one))
    expect(await others(forAdmins, ask, '403 insufficient_privileges')).toEqual([])
    const byKey = await keyClient(gateway.url, 'gwk_aaaaaaaaaaaaaaaa.x')
    const askByKey = (one: Operation) => byKey.request(one.method, target(one))
    expect(await others(forAdmins, askByKey, '401 session_required')).toEqual([])
  })

  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
  ])('that changes something is refused to pages of %s', async (_, headers) => {
    const ask = (one: Operation) => admin.request(one.method, target(one), {}, headers as never)
    expect(await others(unsafe, ask, '403 csrf_rejected')).toEqual([])
  })

  test('that reads answers an admin as documented', async () => {
    const reads = operations.filter((one) => !unsafe(one) && !one.path.includes('{'))
    for (const one of reads) {
      const asked = one.parameters.filter((p) => p.in === 'query' && p.required === true)
      const query = asked.map(({ name }) => `${name}=some`).join('&')
      const { status } = await admin.request('GET', `${one.path}?${query}`)
      expect([one.path, status]).toEqual([one.path, 200])
    }
  })

  test('with an id answers 404 for one that there is not, and for one that is none', async () => {
    const withId = operations.filter((one) => !unsafe(one) && one.path.includes('{'))
    for (const id of [UUID, 'nonsense', '%00', "'; drop table users; --"]) {
      for (const one of withId) {
        const path = one.path.replaceAll(/\{\w+\}/g, encodeURIComponent(id))
        const { status } = await admin.request('GET', path)
        expect([path, status]).toEqual([path, 404])
      }
    }
  })

  test('refuses query parameters and body members that it does not know', async () => {
    const ask = (one: Operation) => admin.request('GET', `${target(one)}?nonsense=1`)
    expect(await others((one) => !unsafe(one), ask, '400 invalid_request')).toEqual([])
    const send = (one: Operation) => admin.request(one.method, target(one), { nonsense: 1 })
    const takesBody = (one: Operation) =>
      unsafe(one) && one.method !== 'DELETE' && '422' in one.responses
    expect(await others(takesBody, send, '422 validation_failed')).toEqual([])
  })
})

test('models and providers are shown as configured, without secrets', async () => {
  expect(await admin.get('/api/v1/admin/models')).toMatchObject({
    total: 2,
    items: [
      {
        model_key: 'demo',
        tags: ['fast'],
        alias_of: null,
        allowlist: null,
        routes: [
          { route_key: 'demo/sim/simulator-1', enabled: true, extra_header_names: ['x-hidden'] },
        ],
      },
      {
        model_key: 'short',
        alias_of: 'demo',
        allowlist: { users: ['ada@example.com'], teams: [] },
      },
    ],
  })
  const { text } = await admin.request('GET', '/api/v1/admin/models')
  expect(text).not.toContain('secret value')
  expect(await admin.get('/api/v1/admin/providers')).toMatchObject({
    total: 1,
    items: [{ provider_key: 'sim', type: 'simulator', model_keys: ['demo'] }],
  })
})

describe('the documentation', () => {
  test('is a page that loads nothing from anywhere else', async () => {
    const page = await fetch(`${gateway.url}/docs`)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self';")
    const html = await page.text()
    expect(html).not.toMatch(/https?:/)
    const parts = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path as string)
    expect(parts.length).toBe(3)
    for (const path of parts) {
      const part = await fetch(`${gateway.url}${path}`)
      expect([path, part.status]).toEqual([path, 200])
      expect((await part.text()).length).toBeGreaterThan(50)
    }
    expect(html).not.toMatch(/<script>/)
  })

  test('equals the committed openapi.json', async () => {
    const served = await (await fetch(`${gateway.url}/docs/json`)).text()
    const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')
    if (served !== committed) {
      throw new Error(
        'openapi.json is not what the gateway serves; write it again: bun run openapi',
      )
    }
  })
})
