import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayError, JsonObject } from 'model-gateway/plugin'
import azureOpenai from '../../providers/azure-openai/index.ts'
import cloudAMl from '../../providers/cloud-a-ml/index.ts'
import cloudAServerless from '../../providers/cloud-a-serverless-compat/index.ts'
import cloudBMl from '../../providers/cloud-b-ml/index.ts'
import gemini from '../../providers/gemini/index.ts'
import genericCompat from '../../providers/generic-compat/index.ts'
import { vendors } from '../standard/known-providers.ts'
import type { ConfigAccess, FileProblem } from './access.ts'
import { createEditor } from './editor.ts'
import type { By, Change, Revision, Store } from './store.ts'

const by = { caller: { email: 'root@example.com' }, requestId: 'r' } as unknown as By
const provider = { id: 'up', type: 'generic_compat', base_url: 'http://127.0.0.1:1' }
const secrets = { 'auth.token': 'sk-1' }
const plugins = [genericCompat, gemini, azureOpenai, cloudAMl, cloudAServerless, cloudBMl]

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-editor-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Faults {
  readonly file?: string
  readonly readOnly?: boolean
  readonly variables?: readonly string[]
  readonly apply?: (text: string | undefined) => readonly FileProblem[]
  readonly keep?: () => void
}

/** An editor of a file on disk in which one part fails. */
function setUp({
  file = join(folder, 'gateway.managed.yaml'),
  readOnly = false,
  variables = [],
  apply,
  keep,
}: Faults = {}) {
  const changes: Change[] = []
  const applied: (string | undefined)[] = []
  const read = () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)
  const access: ConfigAccess = {
    file,
    vendors,
    types: plugins.flatMap(({ manifest }) => manifest.providerTypes ?? []),
    isSet: () => false,
    read,
    check: async () => [],
    async apply() {
      applied.push(read())
      return apply?.(read()) ?? []
    },
  }
  const store: Store = {
    async last() {
      const change = changes.at(-1)
      if (change === undefined) return undefined
      const { before = null, after = null } = change
      return { ...change, before_text: before, after_text: after } as unknown as Revision
    },
    async add(_, change) {
      keep?.()
      changes.push(change)
    },
    async undo() {
      changes.pop()
    },
    texts: async () =>
      changes.flatMap(({ before, after }) => [before, after]).filter((text) => text !== undefined),
  }
  const log = { warn() {}, info() {} }
  const editor = createEditor({ host: { access }, readOnly, variables, store, log })
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

test('a change of a read-only file is a conflict with the YAML to copy', async () => {
  const entry = { id: 'new', routes: [{ provider: 'up', upstream_model: 'm' }] }
  const yaml =
    'models:\n  - id: new\n    routes:\n      - provider: up\n        upstream_model: m\n'
  for (const faults of [{ file: '/proc/gateway.managed.yaml' }, { readOnly: true }]) {
    const { editor, applied } = setUp(faults)
    const refused = { status: 409, details: { yaml } }
    await expect(editor.add('models', { entry }, by)).rejects.toMatchObject(refused)
    expect(applied).toEqual([])
  }
  // A pasted key is not written either, and the YAML has the path for it.
  const { editor } = setUp({ readOnly: true })
  const preview = await editor.add('providers', { entry: provider, secrets, dry_run: true }, by)
  expect(preview.yaml).toContain(`token: file.${folder}/gateway.managed.keys/up.key`)
  expect(readdirSync(folder)).toEqual([])
})

describe('the secrets of a provider that is added', () => {
  const keys = () => `${folder}/gateway.managed.keys`
  const bearer = (token: unknown, more: JsonObject = {}): JsonObject => ({
    ...provider,
    auth: { mode: 'bearer', token } as JsonObject,
    ...more,
  })
  const run = { id: 'run', type: 'cloud_run', base_url: 'https://a.example' }
  const vertex = { id: 'v', type: 'vertex_ai', project_id: 'p' }
  const file = { mode: 'service_account', credentials_file: '/etc/key.json' }
  const aws = (secret: string) => ({
    id: 'aws',
    type: 'cloud_b_ml',
    region: 'us-east-1',
    auth: { mode: 'static', access_key_id: 'env.FREE', secret_access_key: secret },
  })

  // biome-ignore format: one line for a case
  const cases: readonly [string, JsonObject, refused?: string, fix?: string][] = [
    ['the key of the vendor, for the vendor', { id: 'o', type: 'openai', api_key: 'env.OPENAI_API_KEY' }],
    ['in any of its fields', { id: 'o', type: 'openai', auth: { mode: 'bearer', token: 'env.OPENAI_API_KEY' } }],
    ['any of its keys', { id: 'g', type: 'gemini', api_key: 'env.GOOGLE_API_KEY' }],
    ['a variable that is listed, for any address', bearer('env.FREE')],
    ['nothing', provider],
    ['texts that only look like it', { ...provider, id: 'env.a', default_headers: { a: 'env.STAGE' } }],
    ['tokens of the machine, for the vendor', vertex],
    ['the key of the vendor, for another address', { id: 'o', type: 'openai', base_url: 'http://a', api_key: 'env.OPENAI_API_KEY' }, 'api_key', 'remove base_url, paste the key, or ask the operator to add OPENAI_API_KEY to variables of builtin:config-editor'],
    ['the key of a vendor whose address is always stated', { id: 'a', type: 'azure_openai', endpoint: 'https://a', api_key: 'env.AZURE_OPENAI_API_KEY' }, 'api_key', 'ask the operator to add AZURE_OPENAI_API_KEY'],
    ['the key of another vendor', { id: 'o', type: 'openai', api_key: 'env.GROQ_API_KEY' }, 'api_key', 'paste the key, or ask the operator to add GROQ_API_KEY'],
    ['a variable of the gateway', bearer('env.DATABASE_URL'), 'auth.token', 'add DATABASE_URL'],
    ['a variable that is not listed', aws('env.OTHER'), 'auth.secret_access_key', 'add OTHER'],
    ['a file', bearer('file./etc/passwd'), 'auth.token', 'paste the key'],
    ['a file with credentials', { ...vertex, auth: file }, 'auth.credentials_file', 'config file'],
    ['tokens of the machine, for another address', run, 'base_url', 'paste a token'],
    ['the same under another host', { ...vertex, api_host: 'a.example', auth: { mode: 'adc' } }, 'api_host', 'paste a token'],
    ['a literal', bearer('literal.sk-1'), 'auth.token', 'in `secrets`'],
    ['the secret itself', bearer('sk-1'), 'auth.token', 'in `secrets`'],
    ['a list', bearer(['env.FREE']), 'auth.token', 'in `secrets`'],
    ['a misspelt field', { ...provider, api_kei: 'env.OTHER' }, 'api_kei', 'add OTHER'],
    ['a list in a field that is not known', { ...provider, more: [{ key: 'env.OTHER' }] }, 'more[0].key', 'add OTHER'],
  ]
  for (const [name, entry, field, fix = ''] of cases) {
    test(`${field === undefined ? 'may be' : 'are not'} ${name}`, async () => {
      const { editor, changes } = setUp({ variables: ['FREE'] })
      for (const dry_run of [true, false]) {
        const added = editor.add('providers', { entry, dry_run }, by)
        if (field === undefined) await added
        else {
          const refused = { status: 422, details: { problems: [{ field }] } }
          await expect(added).rejects.toMatchObject(refused)
          await expect(added).rejects.toThrow(fix)
          await expect(added).rejects.not.toThrow('sk-1')
        }
      }
      expect(changes).toHaveLength(field === undefined ? 1 : 0)
    })
  }

  test('may be pasted for any address', async () => {
    const { editor, read } = setUp()
    await editor.add('providers', { entry: run, secrets }, by)
    expect(read()).toContain(`token: file.${keys()}/run.key`)
  })

  test('may come back with the very same provider, and with no other', async () => {
    const { editor, add, read, changes } = setUp()
    await add()
    const entry = changes[0]?.entry.after as JsonObject
    await editor.remove('providers', 'up', {}, by)
    for (const [other, field] of [
      [{ ...entry, id: 'another' }, 'auth.token'],
      [{ ...entry, base_url: 'http://a' }, 'auth.token'],
      [bearer(`file.${keys()}/../../etc/passwd`), 'auth.token'],
    ] as const) {
      const refused = { status: 422, details: { problems: [{ field }] } }
      await expect(editor.add('providers', { entry: other }, by)).rejects.toMatchObject(refused)
    }
    await editor.add('providers', { entry }, by)
    expect(read()).toContain(`token: file.${keys()}/up.key`)
    expect(readFileSync(join(keys(), 'up.key'), 'utf8')).toBe('sk-1')
  })

  test('stay when they are in the file, and do not come back by an undo', async () => {
    const written =
      'providers:\n  - {id: old, type: openai, base_url: "http://a", api_key: env.OTHER}\n'
    writeFileSync(join(folder, 'gateway.managed.yaml'), written)
    const { editor, add, read } = setUp()
    await add()
    await editor.undo({}, by)
    expect(read()).toBe(written)
    await editor.remove('providers', 'old', {}, by)
    await expect(editor.undo({}, by)).rejects.toThrow('api_key must not use a variable')
  })
})

test('a change that the reload or the database rejects leaves file and keys unchanged', async () => {
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
    'base_url is not a secret of type generic_compat; known secrets: api_key, auth.token',
  )
})
