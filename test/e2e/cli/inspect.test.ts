import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Inspection } from 'model-gateway/host'
import { identity } from 'model-gateway/identity'
import { stringify } from 'yaml'
import { runCommand } from '../../harness/command.ts'
import { createTestDatabase } from '../../harness/database.ts'
import { runPage } from '../../harness/docs-page.ts'
import { ended } from '../../harness/ended.ts'
import { ada, adaKey, startTestGateway, testKey } from '../../harness/gateway.ts'
import { pluginFolder, simulated } from '../plugins/plugin-files.fixture.ts'

const MAIN = new URL('../../../plugins/standard/main.ts', import.meta.url).pathname
const files = pluginFolder()
let database: Awaited<ReturnType<typeof createTestDatabase>>
let file: string
let withBroken: string
let use: string

beforeAll(async () => {
  database = await createTestDatabase('started')
  use = files.plugin('around', {
    setup: `
      const handle = async (_, next) => void (await next())
      ctx.provide(middleware, { id: 'inner', around: 'decode', handle })
      ctx.provide(middleware, { id: 'outer', around: 'decode', before: ['inner'], handle })
      ctx.provide(middleware, { id: 'only-messages', around: 'respond', appliesTo: ['messages'], handle })`,
  })
  const broken = files.plugin('broken', { setup: `throw new Error('planted')` })
  file = join(files.folder, 'gateway.yaml')
  withBroken = join(files.folder, 'with-broken.yaml')
  const plugins = [{ use: 'builtin:*' }, { use }]
  const worker = { use: 'builtin:core-git', isolation: 'worker' }
  writeFileSync(
    withBroken,
    stringify({ plugins: [...plugins, worker, { use: broken, on_boot_failure: 'disable' }] }),
  )
  writeFileSync(
    file,
    stringify({
      database: { url: `literal.${database.url}` },
      plugins,
      // No server listens on that port, so a call would fail.
      providers: [
        { id: 'here', type: 'generic_compat', base_url: 'http://127.0.0.1:9/v1' },
        { id: 'there', type: 'generic_compat', base_url: 'http://127.0.0.1:9/v1' },
      ],
      models: [
        {
          id: 'm',
          tags: ['fast'],
          routes: [
            { provider: 'here', upstream_model: 'a', weight: 3 },
            { provider: 'there', upstream_model: 'b' },
            { provider: 'here', upstream_model: 'c', priority: 200 },
            { provider: 'here', upstream_model: 'd', capabilities: { tools: false } },
            { provider: 'here', upstream_model: 'e', enabled: false },
          ],
        },
        { id: 'alias', alias_of: 'm' },
        {
          id: 'closed',
          tags: ['fast'],
          rank: 1,
          allowlist: { users: ['eve@example.com'] },
          alias_of: 'm',
        },
      ],
      users: [
        {
          ...ada,
          budget: { cadence: 'daily', amount_usd: '5' },
          api_keys: [
            ...ada.api_keys,
            { name: 'narrow', value: `literal.${testKey('narrow')}`, models: ['alias'] },
          ],
        },
        { name: 'Eve', email: 'eve@example.com' },
      ],
      guardrails: { default: { enabled: true, mode: 'audit', packs: ['core.git'] } },
    }),
  )
})
afterAll(async () => {
  await database?.drop()
  files.remove()
})

describe('gateway plugins', () => {
  /** The command works while the database of the config is away. */
  const gateway = (...args: string[]) =>
    runCommand([...args, '--config', withBroken], {
      cwd: files.folder,
      env: { DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' },
    })

  test('lists what is loaded and from where, what was left out, and the chains', async () => {
    const { out, code } = await gateway('plugins', '--chains')
    expect(code).toBe(0)
    expect(out).toContain(`plugin.around 1.2.3  ${use}\n    provides middleware\n`)
    expect(out).toContain('guardrail-pack.core-git 0.1.0  builtin:core-git  (in a worker)')
    expect(out).toMatch(
      /plugin\.identity \S+ {2}builtin:identity\n {4}provides .*\n {4}needs .*database/,
    )
    expect(out).toMatch(/plugin\.broken 1\.2\.3 .* LEFT OUT\n {4}planted/)
    expect(out).toMatch(
      /decode:\n(?: {4}\S+ +outer .*\n)* {4}chat_completions +outer \(plugin\.around\) > inner \(plugin\.around\)/,
    )
    expect(out).toMatch(
      /respond:\n[\s\S]* {4}chat_completions +-\n[\s\S]* {4}messages +only-messages/,
    )
  }, 30_000)

  test('as JSON', async () => {
    // As a process, with an embedded database that exists for this command alone.
    const child = Bun.spawn([process.execPath, MAIN, 'plugins', '--json', '--config', withBroken], {
      cwd: files.folder,
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const { out } = await ended(child)
    const listed = JSON.parse(out)
    expect(listed.left_out).toMatchObject([{ id: 'plugin.broken', reason: 'planted' }])
    expect(listed.chains.decode.embeddings).toEqual([
      { id: 'outer', plugin: 'plugin.around' },
      { id: 'inner', plugin: 'plugin.around' },
    ])
  }, 30_000)

  test('an unknown argument', async () => {
    const { err, code } = await gateway('plugins', '--colour')
    expect(code).toBe(2)
    expect(err).toContain('usage: gateway plugins')
  })
})

describe('gateway explain', () => {
  async function explain(...args: string[]) {
    const line = ['explain', '--json', ...args, '--config', file]
    const { out, err, code } = await runCommand(line, { cwd: files.folder })
    return { code, err, told: code === 2 || out === '' ? undefined : JSON.parse(out) }
  }

  test('lists the routes, why some are dropped, and the budgets and policies that apply', async () => {
    const body = join(files.folder, 'body.json')
    const tools = [{ type: 'function', function: { name: 'f' } }]
    writeFileSync(body, JSON.stringify({ messages: [{ role: 'user', content: 'x' }], tools }))
    const { told, code } = await explain('--key', adaKey, '--model', 'alias', '--body', body)
    expect(code).toBe(0)
    expect(told.caller.owner).toBe('user ada@example.com')
    expect(told.request).toMatchObject({ model: 'alias', needs: ['chat_completions', 'tools'] })
    expect(told.outcome).toEqual({ served: true, error: null })
    const [model] = told.models
    expect(model).toMatchObject({ id: 'alias', execution_model: 'm', refused: null })
    expect(model.routes).toMatchObject([
      { id: 'm/here/a', dropped: null, share: 0.75 },
      { id: 'm/there/b', dropped: null, share: 0.25 },
      {
        id: 'm/here/c',
        dropped: 'routes with priority 100 come before its priority 200',
        share: 0,
      },
      { id: 'm/here/d', dropped: 'it does not support tools', share: 0 },
      { id: 'm/here/e', dropped: 'it is disabled', share: 0 },
    ])
    expect(model.routes[0].budgets).toMatchObject([
      { cadence: 'daily', amount_usd: '5', spent_usd: '0', hard_limit: true, exhausted: false },
    ])
    expect(model.routes[0].policy).toMatchObject({ scope: 'global' })
    expect(told.middlewares.decode).toEqual(['outer (plugin.around)', 'inner (plugin.around)'])
    expect(JSON.stringify(told)).not.toContain(adaKey)
  }, 30_000)

  test('takes the key by its public id or its id, without the secret', async () => {
    const publicId = adaKey.split('.', 1)[0] as string
    const { told } = await explain('--key', publicId, '--model', 'm')
    expect(told.outcome.served).toBe(true)
    const again = await explain('--key', told.caller.key_id, '--model', 'm')
    expect(again.told).toEqual(told)
  }, 30_000)

  test('says why the caller may not use a model', async () => {
    const narrow = await explain('--key', testKey('narrow'), '--model', 'm')
    expect(narrow.code).toBe(1)
    expect(narrow.told.outcome.error).toMatchObject({ code: 'model_not_granted', status: 403 })
    expect(narrow.told.models).toMatchObject([
      { id: 'm', refused: 'the key has no grant for the model' },
    ])

    const tagged = await explain('--key', adaKey, '--model', 'tag:fast')
    expect(tagged.told.models).toMatchObject([
      {
        id: 'closed',
        refused: 'the allowlist of the model has neither the user nor the team',
      },
      { id: 'm', refused: null },
    ])
    const nothing = await explain('--key', adaKey, '--model', 'nothing')
    expect(nothing.told.outcome.error.code).toBe('model_not_found')
  }, 60_000)

  test('refuses unknown keys and missing arguments', async () => {
    const unknown = await explain('--key', 'gwk_aaaaaaaaaaaaaaaa', '--model', 'm')
    expect(unknown.code).toBe(1)
    expect(unknown.err).toContain('api_key_not_found')
    expect((await explain('--model', 'm')).code).toBe(2)
    expect((await explain('--key', adaKey)).code).toBe(2)
    expect((await explain('--key', adaKey, '--model', 'm', '--surface', 'x')).code).toBe(2)
    expect((await explain('--key', adaKey, '--body', '/nowhere.json')).code).toBe(2)
  }, 60_000)
})

test('a plugin plans with the current config of the running gateway', async () => {
  const held = globalThis as typeof globalThis & { inspectionOfTest?: Inspection }
  const use = files.plugin('holds', {
    manifest: `needs: ['inspection'],`,
    setup: `
      globalThis.inspectionOfTest = ctx.inspection
      let early
      try { ctx.inspection.plugins() } catch (error) { early = error.message }
      if (early !== 'the plugins are not set up yet') throw new Error('asked too early: ' + early)`,
  })
  const config = { ...simulated, plugins: [{ use: 'builtin:*' }, { use }], users: [ada] }
  const running = await startTestGateway(config)
  try {
    const inspection = held.inspectionOfTest as Inspection
    const principal = await running.registry.one(identity).authenticate(adaKey)
    const outcome = async (model: string) => {
      const asked = { principal, surface: 'chat_completions', model, body: undefined } as const
      return (await inspection.plan(asked)).outcome
    }
    expect(inspection.plugins().map(({ id }) => id)).toContain('plugin.holds')
    expect(await outcome('m')).toEqual({ route: 'm/sim/simulator-1' })
    expect(await outcome('later')).toMatchObject({ error: { code: 'model_not_found' } })
    const models = simulated.models.map((model) => ({ ...model, id: 'later' }))
    const text = stringify({
      ...config,
      models,
      server: { bind: '127.0.0.1:0' },
      database: { url: `literal.${running.databaseUrl}` },
    })
    expect(await running.reload({ text, file: join(files.folder, 'gateway.yaml') })).toEqual([])
    expect(await outcome('later')).toEqual({ route: 'later/sim/simulator-1' })
  } finally {
    await running.stop()
  }
}, 60_000)

test('the commands of docs/inspecting.md work as printed', async () => {
  // Commands run in this process, because as processes the six of them took 16 s of CPU time more.
  const socket = join(files.folder, 'commands.sock')
  const server = Bun.serve({
    unix: socket,
    async fetch(request, server) {
      server.timeout(request, 0)
      const words = new URLSearchParams(await request.text()).getAll('word')
      const { out, err, code } = await runCommand([...words, '--config', file], {
        cwd: files.folder,
      })
      return new Response(out + err, { status: code === 0 ? 200 : 500 })
    },
  })
  const script = join(files.folder, 'gateway')
  writeFileSync(
    script,
    `#!/bin/sh
for word; do shift; set -- "$@" --data-urlencode "word=$word"; done
exec curl --silent --fail-with-body --unix-socket ${socket} "$@" http://gateway/
`,
    { mode: 0o755 },
  )
  const settings = {
    GATEWAY: script,
    KEY: adaKey.split('.', 1)[0] as string,
    MODEL: 'alias',
  }
  const { out } = await runPage('inspecting.md', settings, files.folder)
  await server.stop(true)
  expect(out).toContain('kept    m/here/a (priority 100, weight 3)')
  expect(out).toContain('middlewares of each step, outermost first')
}, 120_000)
