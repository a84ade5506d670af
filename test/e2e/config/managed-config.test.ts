import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type AdminClient, adminClient, adminPassword } from '../../harness/admin.ts'
import { runPage } from '../../harness/docs-page.ts'
import { adaKey, eventually } from '../../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../../harness/process.ts'
import { believable, startUpstream, type Upstream } from '../../harness/upstream.ts'

const PATH = '/api/v1/admin/managed-config'
const SECRET = 'sk-pasted-0123456789'

let upstream: Upstream
let gateway: GatewayProcess
let admin: AdminClient
let file: string
let keys: string

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.always(believable())
  gateway = await spawnGateway({
    providers: [{ id: 'old', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'old', routes: [{ provider: 'old', upstream_model: 'old' }] }],
    plugins: [
      { use: 'builtin:*' },
      { use: 'builtin:config-editor', config: { variables: ['NOT_THERE'] } },
    ],
  })
  admin = await adminClient(gateway)
  file = join(dirname(gateway.dataDir), 'gateway.managed.yaml')
  keys = join(dirname(gateway.dataDir), 'gateway.managed.keys')
})

afterAll(async () => {
  await gateway?.remove()
  await upstream?.stop()
})

interface Managed {
  readonly revision: string
  readonly yaml: string
  readonly provider_keys: readonly string[]
  readonly undo: { readonly action: string } | null
}
interface Changed {
  readonly yaml: string
  readonly revision: string
  readonly problems: readonly { readonly field: string | null; readonly message: string }[]
}

async function call(model: string): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.text()
  return response.status
}

const provider = () => ({
  id: 'added',
  type: 'generic_compat',
  base_url: upstream.url,
  auth: { mode: 'bearer' },
})
const model = { id: 'added/one', routes: [{ provider: 'added', upstream_model: 'one' }] }

describe('what an admin adds', () => {
  test('is first shown with its problems, each at its field, and nothing is written', async () => {
    const { yaml, problems } = await admin.post<Changed>(`${PATH}/providers`, {
      provider: {
        ...provider(),
        base_url: 'upstream',
        auth: { mode: 'bearer', token: 'env.NOT_THERE' },
      },
      dry_run: true,
    })
    expect(yaml).toStartWith('providers:\n  - id: added\n')
    expect(problems.map(({ field }) => field)).toEqual(['base_url', 'auth.token'])
    expect(existsSync(file)).toBe(false)
  })

  test('is refused with all its problems', async () => {
    const reply = await admin.request('POST', `${PATH}/models`, {
      model: { id: 'old', routes: [{ provider: 'none', upstream_model: 'one' }] },
    })
    const { error } = JSON.parse(reply.text)
    expect([reply.status, error.problems]).toMatchObject([
      422,
      [
        { path: 'models[0].id', field: 'id', line: 5, file },
        { path: 'models[0].routes[0].provider', field: 'routes[0].provider', line: 7, file },
      ],
    ])
    expect(error.message).toContain('is also the id of an entry in')
    expect(existsSync(file)).toBe(false)
  })

  test('never holds a secret: a pasted one is stored for the gateway alone', async () => {
    for (const token of [SECRET, 'env.PATH', 'file./etc/hostname']) {
      const entry = { ...provider(), auth: { mode: 'bearer', token } }
      const refused = await admin.request('POST', `${PATH}/providers`, { provider: entry })
      expect(refused.status).toBe(422)
      expect(JSON.parse(refused.text).error.problems).toMatchObject([{ field: 'auth.token' }])
      expect(refused.text).not.toContain(SECRET)
    }
    const { yaml } = await admin.post<Changed>(`${PATH}/providers`, {
      provider: provider(),
      secrets: { 'auth.token': SECRET },
    })
    const key = join(keys, 'added.key')
    expect(yaml).toContain(`token: file.${key}`)
    expect(readFileSync(key, 'utf8')).toBe(SECRET)
    expect(statSync(key).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toEndWith(yaml)
    const audit = await admin.request('GET', '/api/v1/admin/audit-log?action=config.provider.add')
    expect(audit.text).toContain('"object_id":"added"')
    for (const text of [audit.text, JSON.stringify(gateway.logs), readFileSync(file, 'utf8')]) {
      expect(text).not.toContain(SECRET)
    }
  })

  test('is in force when it is answered, and the other file is read again with it', async () => {
    expect(await call('added/one')).toBe(404)
    await admin.post(`${PATH}/models`, { model })
    expect(await call('added/one')).toBe(200)
    expect(upstream.journal.calls.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`)
    gateway.signal('SIGHUP')
    await eventually(
      async () => gateway.logs.filter(({ msg }) => msg === 'the new config is active').length > 2,
    )
    expect(await call('added/one')).toBe(200)
  })

  test('cannot be taken away while something needs it, nor over a change that was not seen', async () => {
    const [status, , message] = await admin.refused('DELETE', `${PATH}/providers/added`)
    expect([status, message]).toEqual([
      409,
      expect.stringContaining('provider "added" does not exist'),
    ])
    const { revision, yaml } = await admin.get<Managed>(PATH)
    writeFileSync(file, `${yaml}# by hand\n`)
    const remove = `${PATH}/models/${encodeURIComponent('added/one')}`
    const [conflict] = await admin.refused('DELETE', `${remove}?revision=${revision}`)
    expect(conflict).toBe(409)
    expect((await admin.get<Managed>(PATH)).undo).toBeNull()
    writeFileSync(file, yaml)
  })

  test('can be undone, change by change, with its key', async () => {
    const undone = () => admin.post<{ undone: string }>(`${PATH}/undo`)
    await admin.delete(`${PATH}/models/${encodeURIComponent('added/one')}`)
    expect(await call('added/one')).toBe(404)
    expect(await undone()).toMatchObject({ undone: 'model.remove' })
    expect(await call('added/one')).toBe(200)
    expect(await undone()).toMatchObject({ undone: 'model.add' })
    expect(await undone()).toMatchObject({ undone: 'provider.add', revision: 'none' })
    expect([existsSync(file), readdirSync(keys)]).toEqual([false, []])
    const [status] = await admin.refused('POST', `${PATH}/undo`)
    expect(status).toBe(404)
    expect(await call('old')).toBe(200)
  })

  test('is what the commands of docs/managed-config.md add', async () => {
    const own = { GATEWAY: gateway.url, EMAIL: admin.email, PASSWORD: `'${adminPassword}'` }
    const { out } = await runPage('managed-config.md', own, dirname(file))
    expect(out).toContain('"undone":"model.remove"')
    expect(readFileSync(file, 'utf8')).toContain('- id: local/*')
  })
})
