import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayError } from 'model-gateway/plugin'
import genericCompat from '../../providers/generic-compat/index.ts'
import type { ConfigAccess, FileProblem } from './access.ts'
import { createEditor } from './editor.ts'
import type { By, Change, Store } from './store.ts'

const by = { caller: { email: 'root@example.com' }, requestId: 'r' } as unknown as By
const provider = { id: 'up', type: 'generic_compat', base_url: 'http://127.0.0.1:1' }
const secrets = { 'auth.token': 'sk-1' }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-editor-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Faults {
  readonly file?: string
  readonly readOnly?: boolean
  readonly apply?: (text: string | undefined) => readonly FileProblem[]
  readonly keep?: () => void
}

/** An editor of a file on this disk, of which a part fails. */
function setUp({
  file = join(folder, 'gateway.managed.yaml'),
  readOnly = false,
  apply,
  keep,
}: Faults = {}) {
  const changes: Change[] = []
  const applied: (string | undefined)[] = []
  const read = () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)
  const access: ConfigAccess = {
    file,
    vendors: [],
    types: genericCompat.manifest.providerTypes ?? [],
    isSet: () => false,
    read,
    check: async () => [],
    async apply() {
      applied.push(read())
      return apply?.(read()) ?? []
    },
  }
  const store: Store = {
    last: async () => undefined,
    async add(_, change) {
      keep?.()
      changes.push(change)
    },
    undo: async () => {},
    texts: async () => [],
  }
  const editor = createEditor({ host: { access }, readOnly, store, log: { warn() {}, info() {} } })
  const add = () => editor.add('providers', { entry: provider, secrets }, by)
  const refusal = async () => {
    const error = await add().then(
      () => undefined,
      (thrown: GatewayError) => thrown,
    )
    return [error?.code, error?.details]
  }
  return { editor, add, refusal, applied, changes, read }
}

test('where nothing can be written, a change is a conflict with the YAML to be copied', async () => {
  const entry = { id: 'new', routes: [{ provider: 'up', upstream_model: 'm' }] }
  const yaml =
    'models:\n  - id: new\n    routes:\n      - provider: up\n        upstream_model: m\n'
  for (const faults of [{ file: '/proc/gateway.managed.yaml' }, { readOnly: true }]) {
    const { editor, applied } = setUp(faults)
    const refused = { status: 409, details: { yaml } }
    await expect(editor.add('models', { entry }, by)).rejects.toMatchObject(refused)
    expect(applied).toEqual([])
  }
  // A pasted key is not written either, and the YAML says where it belongs.
  const { editor } = setUp({ readOnly: true })
  const preview = await editor.add('providers', { entry: provider, secrets, dry_run: true }, by)
  expect(preview.yaml).toContain(`token: file.${folder}/gateway.managed.keys/up.key`)
  expect(readdirSync(folder)).toEqual([])
})

test('references name nothing of the gateway itself, and secrets are not sent in their place', async () => {
  const { editor } = setUp()
  for (const token of [
    'env.DATABASE_URL',
    'env.GATEWAY_KEY',
    'file./proc/self/environ',
    'file./a/../proc/1/environ',
    'sk-1',
  ]) {
    const entry = { ...provider, auth: { mode: 'bearer', token } }
    const refused = editor.add('providers', { entry }, by)
    await expect(refused).rejects.toMatchObject({
      status: 422,
      details: { problems: [{ field: 'auth.token' }] },
    })
    await expect(refused).rejects.not.toThrow(token)
  }
})

test('what the reload or the database refuses leaves file and keys as they were', async () => {
  const problem = { path: ['providers', 0], message: 'is refused', file: 'f' }
  const refused = setUp({ apply: (text) => (text === undefined ? [] : [problem]) })
  expect(await refused.refusal()).toMatchObject([
    'validation_failed',
    { problems: [{ path: 'providers[0]', message: 'is refused' }] },
  ])
  const lost = setUp({
    keep() {
      throw new Error('the database is away')
    },
  })
  expect(await lost.refusal()).toEqual([undefined, undefined])
  for (const { applied, changes, read } of [refused, lost]) {
    expect(applied.map((text) => text === undefined)).toEqual([false, true])
    expect([changes, read()]).toEqual([[], undefined])
  }
  expect(readdirSync(join(folder, 'gateway.managed.keys'))).toEqual([])
})

test('changes that come at once are made one after the other', async () => {
  const { editor, read } = setUp()
  const ids = ['a', 'b', 'c']
  await Promise.all(
    ids.map((id) => editor.add('providers', { entry: { ...provider, id }, secrets }, by)),
  )
  expect(read()?.match(/id: ./g)).toEqual(['id: a', 'id: b', 'id: c'])
  expect(readdirSync(join(folder, 'gateway.managed.keys')).toSorted()).toEqual([
    'a.key',
    'b.key',
    'c.key',
  ])
  await expect(
    editor.add('providers', { entry: provider, secrets: { base_url: 'x' } }, by),
  ).rejects.toThrow(
    'base_url is not a secret of type generic_compat: its secrets are api_key, auth.token',
  )
})
