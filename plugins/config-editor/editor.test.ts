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
  readonly apply?: (text: string | undefined) => readonly FileProblem[]
  readonly keep?: () => void
}

/** An editor of a file on this disk, of which a part fails. */
function setUp({ file = join(folder, 'gateway.managed.yaml'), apply, keep }: Faults = {}) {
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
  const editor = createEditor({ host: { access }, store, log: { warn() {}, info() {} } })
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

test('a file that cannot be written is a conflict, with the YAML to be copied', async () => {
  const { editor } = setUp({ file: '/proc/gateway.managed.yaml' })
  const entry = { id: 'new', routes: [{ provider: 'up', upstream_model: 'm' }] }
  const yaml =
    'models:\n  - id: new\n    routes:\n      - provider: up\n        upstream_model: m\n'
  expect(editor.add('models', { entry }, by)).rejects.toMatchObject({
    status: 409,
    details: { yaml },
  })
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
  ).rejects.toThrow('base_url is not a secret of type generic_compat: its secrets are auth.token')
})
