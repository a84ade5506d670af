import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { pino } from 'pino'
import { stringify } from 'yaml'
import { operatorMessage } from '../../../kernel/boot/errors.ts'
import { startGateway } from '../../../kernel/boot/start.ts'
import { openEmbedded } from '../../../plugins/embedded-postgres/index.ts'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { createTestDatabase } from '../../harness/database.ts'
import { ada, startTestGateway } from '../../harness/gateway.ts'
import { chat, type PluginText, pluginFolder, simulated } from './plugin-files.fixture.ts'

const files = pluginFolder()
let database: Awaited<ReturnType<typeof createTestDatabase>>
beforeAll(async () => {
  database = await createTestDatabase('started')
})
afterAll(async () => {
  await database?.drop()
  files.remove()
})

type Entry = Record<string, unknown>

/** Starts at once. Each gateway has its own connections, and the server allows fifty. */
const lanes = Array.from({ length: 4 }, () => Promise.resolve<unknown>(undefined))
let started = 0

/**
 * What a start says of a config with these plugins, which go first; undefined when it starts.
 */
function startWith(entries: readonly Entry[], more: Record<string, unknown> = {}) {
  const lane = started++ % lanes.length
  const message = (lanes[lane] as Promise<unknown>).then(() => start(entries, more))
  lanes[lane] = message
  return message
}

async function start(entries: readonly Entry[], more: Record<string, unknown>) {
  const text = stringify({
    ...simulated,
    ...more,
    server: { bind: '127.0.0.1:0' },
    database: { url: `literal.${database.url}` },
    plugins: [...entries, { use: 'builtin:*' }],
  })
  try {
    const gateway = await startGateway({
      source: { text, file: join(files.folder, 'gateway.yaml') },
      builtins,
      startDatabase: openEmbedded,
      dataDir: join(files.folder, 'data'),
      env: {},
      log: pino({ level: 'silent' }),
    })
    await gateway.stop()
    return undefined
  } catch (error) {
    return operatorMessage(error) ?? `not for operators: ${String(error)}`
  }
}

/** An MCP auth mode, with what is special about it. */
const authMode = (own: string): PluginText => ({
  head: `import { mcpAuthModes } from 'model-gateway/mcp'
const mode = { mode: 'test', configSchema: Type.Object({}), validate: () => [], ${own} } as any`,
  manifest: 'declares: [{ point: mcpAuthModes, spec: mode }],',
  setup: 'ctx.provide(mcpAuthModes, mode)',
})

/** What a bundle does that has a contract inside: its point is another object of the same name. */
const copied = (point: string, module: string): PluginText => ({
  head: `import { ${point} as original } from '${module}'`,
  setup: `ctx.provide({ name: original.name, cardinality: 'many' }, {} as never)`,
})

/** An admin module: a route for each text, which says what is special about it. */
const routes = (...own: readonly string[]) => {
  const usual = `method: 'GET', path: '/api/v1/admin/x', audience: 'platform_admin', tag: 't', summary: 's', result: Type.Null(), handle: () => null,`
  return `{ id: 'x', routes: [${own.map((text) => `{ ${usual} ${text} }`)}] } as never`
}

/** A guardrail pack that lets everything pass. */
const pack = `{ version: '1', summary: 's', phases: [], rules: [], evaluate() {}, explain() {} }`

/** What a plugin does wrong, and what the message has to hold beside its id and file. */
const faults: Record<
  string,
  { text: PluginText | string; entry?: Entry; rule: string; id?: string; behind?: string }
> = {
  'no-plugin': {
    text: 'export default 42',
    rule: 'has no default export that is a plugin',
    id: '',
  },
  'no-module': { text: 'import "./nowhere.ts"', rule: 'cannot be loaded', id: '' },
  'no-dependency': { text: 'import "left-pad-of-nobody"', rule: 'left-pad-of-nobody', id: '' },
  'throws-at-import': { text: 'throw new Error("planted")', rule: 'planted', id: '' },
  'syntax-error': { text: 'export default {', rule: 'cannot be loaded', id: '' },
  'wrong-contract': {
    text: { contract: '2 as never' },
    rule: 'was written for contract 2; this gateway supports contract 1',
    id: '',
  },
  'contract-as-text': {
    text: { contract: `'1' as never` },
    rule: 'was written for contract "1"; this gateway supports contract 1',
    id: '',
  },
  'other-schema': {
    text: { manifest: `config: { parse() {} } as never,` },
    rule: 'has an invalid manifest: config must be a schema made with strictObject or Type, got an object',
    id: '',
  },
  'wrong-id': {
    text: { id: 'Plugin.Mine' },
    rule: 'id must be a string of the form kind.name with a-z, 0-9 and hyphens only, got "Plugin.Mine"',
    id: '',
  },
  'duplicate-id': {
    text: { id: 'plugin.identity' },
    rule: 'is loaded twice, by builtin:identity and',
    id: 'plugin.identity',
    behind: 'builtin:identity',
  },
  'unknown-need': {
    text: { manifest: `needs: ['magic' as never],` },
    rule: 'needs[0] must be one of egress, ',
    id: '',
  },
  'bad-config': {
    text: { manifest: `config: Type.Object({ size: Type.Integer() }),` },
    entry: { config: { size: 'big' } },
    rule: 'size',
  },
  'unknown-config': { text: {}, entry: { config: { colour: 'red' } }, rule: 'colour' },
  'missing-plugin': {
    text: { manifest: `requires: ['plugin.nobody'],` },
    rule: 'requires plugin "plugin.nobody", which is not loaded',
  },
  circle: {
    text: { manifest: `after: ['plugin.circle'],` },
    rule: 'depend on each other in a cycle',
  },
  'setup-throws': { text: { setup: `throw new Error('planted')` }, rule: 'planted' },
  'setup-hangs': { text: { setup: 'return new Promise(() => {})' }, rule: 'did not finish within' },
  'setup-shape': {
    text: { setup: 'return { dispose() {} } as never' },
    rule: 'its set-up returned an object: return a disposer function or nothing',
  },
  'no-point': {
    text: { setup: 'ctx.provide((kit as any).midleware, {})' },
    rule: 'provides something at a value that is not an extension point: check the name of the import',
  },
  'bad-migration': {
    text: { manifest: `migrations: [{ name: '0001_bad', sql: 'create tabel x ()' }],` },
    rule: 'migration 0001_bad',
  },
  'misnamed-migration': {
    text: { manifest: `migrations: [{ name: 'first', sql: 'select 1' }],` },
    rule: 'the name must look like 0001_name',
  },
  bundled: {
    text: {
      setup: `ctx.provide({ ...middleware }, { id: 'a', around: 'decode', async handle(_, next) { await next() } })`,
    },
    rule: 'provides middleware of another copy of model-gateway/middleware: leave that module out of the bundle, or rename the point if it is a new one',
  },
  'bundled-pack': {
    text: copied('guardrailPacks', 'model-gateway/guardrail'),
    rule: 'provides guardrail_packs of another copy of model-gateway/guardrail: leave that module out',
  },
  'bundled-auth-mode': {
    text: copied('mcpAuthModes', 'model-gateway/mcp'),
    rule: 'provides mcp_auth_modes of another copy of model-gateway/mcp: leave that module out',
  },
  'bundled-admin-module': {
    text: copied('adminModules', 'model-gateway/admin'),
    rule: 'provides admin_modules of another copy of model-gateway/admin: leave that module out',
  },
  'no-capability': {
    text: { setup: `(ctx as any).database.sql` },
    rule: `uses the capability "database", which is missing in its manifest: add 'database' to needs`,
  },
  'second-identity': {
    text: {
      manifest: 'provides: [kit.identity],',
      setup: `ctx.provide(kit.identity, { authenticate() {}, directory() {}, onChange() {} } as never)`,
    },
    rule: 'identity is already provided by plugin "plugin.identity"',
    behind: 'builtin:identity',
  },
  'unknown-use': {
    text: { manifest: 'uses: { audit: (kit as any).auditTrial },' },
    rule: 'uses.audit must be an extension point, { optional: point } of cardinality "one", or { named: point } of cardinality "many": check the name of the import, got nothing',
    id: '',
  },
  'unmet-use': {
    text: { manifest: `uses: { quota: kit.extensionPoint('quota', 'one') },` },
    rule: 'uses quota, which no loaded plugin provides',
  },
  'no-handler': {
    text: { setup: `ctx.provide(middleware, { id: 'a', around: 'decode' } as never)` },
    rule: 'the middleware "a": handle must be a function, got nothing',
  },
  'forbidden-seam': {
    text: { setup: `ctx.provide(middleware, { id: 'a', around: 'settle', handle() {} } as never)` },
    rule: 'the middleware "a": around must be one of decode, admit, execute, respond, got "settle"',
  },
  'no-record': {
    text: { setup: 'ctx.provide(accountingSinks, {} as never)' },
    rule: 'accounting_sinks: record must be a function, got nothing',
  },
  'prepare-throws': {
    text: {
      setup: `ctx.provide(kit.snapshotListeners, { async prepare() { throw new Error('planted') } })`,
    },
    rule: 'prepare-throws.ts): planted',
  },
  'prepare-nothing': {
    text: { setup: 'ctx.provide(kit.snapshotListeners, { async prepare() {} } as never)' },
    rule: 'prepare must return a function',
  },
  'force-throws': {
    text: {
      setup: `ctx.provide(kit.snapshotListeners, { prepare: async () => () => { throw new Error('planted') } })`,
    },
    rule: 'force-throws.ts): planted',
  },
  'config-check-throws': {
    text: {
      setup: `ctx.provide(kit.snapshotListeners, { check() { throw new Error('planted') }, prepare: async () => () => {} })`,
    },
    rule: 'config-check-throws.ts): planted',
  },
  'no-listener': {
    text: { setup: 'ctx.provide(kit.boundRouteListeners, {} as never)' },
    rule: 'bound_route_listeners: inForce must be a function, got nothing',
  },
  'no-path': {
    text: { setup: `ctx.provide(kit.httpRoutes, { method: 'GET', handle() {} } as never)` },
    rule: 'http_routes: path must be a non-empty string, got nothing',
  },
  'auth-kind': {
    text: authMode(`kind: 'user', headers: () => ({})`),
    rule: 'the MCP auth mode "test": kind must be one of gateway, caller, got "user"',
  },
  'auth-no-headers': {
    text: authMode(`kind: 'gateway'`),
    rule: 'the MCP auth mode "test": headers must be a function if kind is gateway',
  },
  'auth-no-schema': {
    text: authMode(`kind: 'caller', configSchema: {}`),
    rule: 'declares the MCP auth mode "test": configSchema must be an object schema made with strictObject or Type.Object, got an object',
    id: 'auth-no-schema.ts',
  },
  'auth-undeclared': {
    text: { ...authMode(`kind: 'caller'`), manifest: '' },
    rule: 'provides "test", a MCP auth mode that its manifest does not declare',
  },
  'auth-not-provided': {
    text: { ...authMode(`kind: 'caller'`), setup: '' },
    rule: 'declares the MCP auth mode "test" but does not provide it',
  },
  'declares-nothing': {
    text: { manifest: `declares: [{ point: kit.httpRoutes, spec: {} }],` },
    rule: 'declares[0].point.declared must be the rules for declared specs of an extension point, got nothing',
    id: 'declares-nothing.ts',
  },
  'admin-without-routes': {
    text: { setup: `ctx.provide(admin.adminModules, { id: 'x' } as never)` },
    rule: 'the admin module "x": routes must be a list, got nothing',
  },
  'admin-for-whom': {
    text: { setup: `ctx.provide(admin.adminModules, ${routes("audience: 'admin'")})` },
    rule: 'the admin module "x": routes[0].audience must be one of anyone, me, session, platform_admin, got "admin"',
  },
  'admin-elsewhere': {
    text: { setup: `ctx.provide(admin.adminModules, ${routes("path: '/v1/models'")})` },
    rule: 'routes[0].path must be a path below /api/v1/ in which each segment is a name or one parameter in braces, got "/v1/models"',
  },
  'admin-half-a-parameter': {
    text: {
      setup: `ctx.provide(admin.adminModules, ${routes("path: '/api/v1/admin/{id}.csv'")})`,
    },
    rule: 'each segment is a name or one parameter in braces, got "/api/v1/admin/{id}.csv"',
  },
  'admin-parameter-twice': {
    text: {
      setup: `ctx.provide(admin.adminModules, ${routes("path: '/api/v1/admin/x/{id}/{id}'")})`,
    },
    rule: 'the route GET /api/v1/admin/x/{id}/{id} names a parameter twice',
  },
  'admin-unknown-error': {
    text: { setup: `ctx.provide(admin.adminModules, ${routes("errors: ['teapot']")})` },
    rule: 'the route GET /api/v1/admin/x lists the unknown error code teapot',
  },
  'admin-unusable-schema': {
    text: {
      setup: `ctx.provide(admin.adminModules, ${routes("query: kit.strictObject({ a: Type.String({ pattern: '[' }) })")})`,
    },
    rule: 'the route GET /api/v1/admin/x has an invalid schema query: ',
  },
  'admin-no-handle': {
    text: { setup: `ctx.provide(admin.adminModules, ${routes('handle: undefined')})` },
    rule: 'routes[0].handle must be a function, got nothing',
  },
  'admin-loose-query': {
    text: { setup: `ctx.provide(admin.adminModules, ${routes('query: Type.Object({})')})` },
    rule: 'the route GET /api/v1/admin/x has a query schema that accepts unknown parameters; create it with strictObject',
  },
  'admin-twice': {
    text: { setup: `ctx.provide(admin.adminModules, ${routes('', '')})` },
    rule: 'provides GET /api/v1/admin/x, which plugin "plugin.admin-twice" already provides',
  },
  'admin-taken': {
    text: {
      setup: `ctx.provide(admin.adminModules, ${routes("method: 'PATCH', path: '/api/v1/admin/users/{id}'")})`,
    },
    rule: 'provides PATCH /api/v1/admin/users/{}, which plugin "plugin.identity" already provides',
    behind: 'builtin:identity',
  },
  'health-taken': {
    text: {
      setup: `ctx.provide(kit.healthChecks, { name: 'accounting', check: () => ({ status: 'ok' }) })`,
    },
    rule: 'provides the health check "accounting", which plugin "plugin.accounting" already provides',
    behind: 'builtin:accounting',
  },
  'path-twice': {
    text: {
      setup: `for (const id of ['a', 'b']) ctx.provide(kit.httpRoutes, { method: 'GET', path: '/twice/:' + id, handle: () => new Response() })`,
    },
    rule: 'provides GET /twice/:, which plugin "plugin.path-twice" already provides',
  },
  'pack-without-pack': {
    text: {
      manifest: `declares: [{ point: guardrailPacks, spec: { id: 'test.none', phases: [] } }],`,
    },
    rule: 'declares the guardrail pack "test.none" but does not provide it',
  },
  'pack-of-no-phase': {
    text: {
      manifest: `declares: [{ point: guardrailPacks, spec: { id: 'test.typo', phases: ['mcp-call'] } }],`,
    },
    rule: 'declares the guardrail pack "test.typo": phases[0] must be one of prompt, model_response, generated_tool_call, mcp_call, mcp_result, harness_pre_tool, got "mcp-call"',
    id: '',
  },
  'check-of-no-phase': {
    text: {
      manifest: `declares: [{ point: guardrail.managedCheckKinds, spec: { kind: 'typo', phases: ['promt'], config: Type.Object({}) } }],`,
    },
    rule: 'declares the managed check "typo": phases[0] must be one of prompt,',
    id: '',
  },
  'pack-that-runs-at-no-phase': {
    text: {
      manifest: `declares: [{ point: guardrailPacks, spec: { id: 'test.typed', phases: ['mcp_call'] } }],`,
      setup: `ctx.provide(guardrailPacks, { ...${pack}, id: 'test.typed', phases: ['mcp-call'] } as never)`,
    },
    rule: 'the guardrail pack "test.typed": phases[0] must be one of prompt,',
  },
  'pack-without-phases': {
    text: {
      manifest: `declares: [{ point: guardrailPacks, spec: { id: 'test.blank', phases: ['mcp_call'] } }],`,
      setup: `ctx.provide(guardrailPacks, { ...${pack}, id: 'test.blank', phases: undefined } as never)`,
    },
    rule: 'the guardrail pack "test.blank": phases must be a list, got nothing',
  },
  'undeclared-pack': {
    text: {
      setup: `ctx.provide(guardrailPacks, { ...${pack}, id: 'test.secret' } as never)`,
    },
    rule: 'provides "test.secret", a guardrail pack that its manifest does not declare',
  },
  'type-without-factory': {
    text: {
      manifest: `providerTypes: [{ type: 'mine', config: Type.Object({}), compatibility: Type.Object({}) }],`,
    },
    rule: 'declares the provider type "mine" but does not provide it',
  },
  'taken-type': {
    text: {
      manifest: `providerTypes: [{ type: 'simulator', config: Type.Object({}), compatibility: Type.Object({}) }],`,
    },
    rule: 'claims provider type "simulator"',
    behind: 'builtin:simulator',
  },
  'taken-section': {
    text: { manifest: `sections: [kit.configSection('users', Type.Object({}))],` },
    rule: 'claims section "users"',
    behind: 'builtin:identity',
  },
  'check-throws': {
    text: { manifest: `check() { throw new Error('planted') },` },
    rule: 'planted',
  },
  'isolated-no-pack': {
    text: {},
    entry: { isolation: 'worker' },
    rule: 'it does not provide a guardrail pack',
  },
  'isolated-needs': {
    text: {
      manifest: `needs: ['egress'], declares: [{ point: guardrailPacks, spec: { id: 'test.x', phases: ['prompt'] } }],`,
    },
    entry: { isolation: 'worker' },
    rule: 'it needs egress',
  },
  'isolated-throws': {
    text: {
      manifest: `declares: [{ point: guardrailPacks, spec: { id: 'test.y', phases: ['prompt'] } }],`,
      setup: `throw new Error('planted in a thread')`,
    },
    entry: { isolation: 'worker' },
    rule: 'planted in a thread',
  },
  'isolated-provides': {
    text: {
      manifest: `declares: [{ point: guardrailPacks, spec: { id: 'test.z', phases: ['prompt'] } }],`,
      setup: `ctx.provide(middleware, {} as never)`,
    },
    entry: { isolation: 'worker' },
    rule: 'a worker can provide only packs',
  },
  'unknown-isolation': { text: {}, entry: { isolation: 'process' }, rule: 'isolation', id: '' },
  'unknown-rule': {
    text: {},
    entry: { on_boot_failure: 'ignore' },
    rule: 'on_boot_failure',
    id: '',
  },
}

test.concurrent.each(Object.entries(faults))(
  '%s: the start stops, and the message names plugin, file and rule',
  async (name, { text, entry = {}, rule, id = `plugin.${name}`, behind }) => {
    const use = typeof text === 'string' ? files.file(`${name}.ts`, text) : files.plugin(name, text)
    const before = behind === undefined ? [] : [{ use: behind }]
    const place = before.length
    const message = await startWith([...before, { use, ...entry }])
    expect(message).toContain(rule)
    expect(message).toContain(id)
    // A place in the file that names the plugin is as good as its path.
    expect(message).toMatch(new RegExp(`${name}\\.ts|plugins\\[${place}\\]|plugins\\.${place}`))
    expect(message).not.toStartWith('not for operators')
  },
  30_000,
)

/** What a route can be bound to, with what is special about it. */
const route = (own: string) =>
  `({ supports: [], pricing: { pricingProviderId: undefined, model: 'u' }, execute: { chat_completions: async () => {} }, ${own} })`

test.each([
  ['a factory that throws', `throw new Error('planted')`, 'creating provider "px" failed: planted'],
  [
    'a factory without result',
    '',
    'creating provider "px" failed: its factory must return a provider',
  ],
  [
    'no route',
    'return { bind() {} }',
    'the bound route is not valid: it must be an object, got nothing',
  ],
  [
    'a route to wait for',
    `return { bind: async () => ${route('')} }`,
    'bind must return a route, not a promise',
  ],
  [
    'no supports',
    `return { bind: () => ${route('supports: undefined')} }`,
    'supports must be a list, got nothing',
  ],
  [
    'an unknown flag',
    `return { bind: () => ${route("supports: ['streaming']")} }`,
    'supports[0] must be one of stream, tools, vision, json_schema, got "streaming"',
  ],
  [
    'no pricing',
    `return { bind: () => ${route('pricing: {}')} }`,
    'pricing.model must be a string, got nothing',
  ],
  [
    'an executor that is none',
    `return { bind: () => ${route('execute: { responses: true }')} }`,
    'execute.responses must be a function, got true',
  ],
  [
    'a route without executors',
    `return { bind: () => ${route('execute: { chat_completions: undefined }')} }`,
    'the bound route executes no dialect',
  ],
])(
  '%s: the start stops, and the message names the provider, its plugin and the rule',
  async (name, create, rule) => {
    const file = `provider-${name.replaceAll(' ', '-')}`
    const use = files.plugin(file, {
      manifest: `providerTypes: [{ type: 'px', config: Type.Object({}), compatibility: Type.Object({}) }],`,
      setup: `ctx.provide(kit.providerFactories, { type: 'px', create: (() => { ${create} }) as never })`,
    })
    const message = await startWith([{ use }], {
      providers: [{ id: 'px', type: 'px' }],
      models: [{ id: 'm', routes: [{ provider: 'px', upstream_model: 'u' }] }],
    })
    expect(message).toContain(rule)
    expect(message).toContain(`(plugin "plugin.${file}")`)
    expect(message).toMatch(/providers\[0\]|models\[0\]\.routes\[0\]/)
  },
)

test('a plugin that fails to hear of the routes is logged, and the gateway serves', async () => {
  const use = files.plugin('deaf', {
    setup: `ctx.provide(kit.boundRouteListeners, { inForce() { throw new Error('planted') } })`,
  })
  const gateway = await startTestGateway({ ...simulated, plugins: [{ use: 'builtin:*' }, { use }] })
  try {
    expect(gateway.logs.filter(({ plugin }) => plugin === 'plugin.deaf')).toMatchObject([
      { level: 50, msg: 'the plugin failed to handle the active routes' },
    ])
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
  } finally {
    await gateway.stop()
  }
})

test('a plugin that fails at another config is named, and the config is in force everywhere else', async () => {
  const use = files.plugin('late', {
    setup: `let times = 0
      ctx.provide(kit.snapshotListeners, {
        prepare: async () => () => { if (times++ > 0) throw new Error('planted') },
      })`,
  })
  const plugins = [{ use }, { use: 'builtin:*' }]
  const gateway = await startTestGateway({ ...simulated, plugins })
  try {
    const [route] = simulated.models
    const config = {
      ...simulated,
      plugins,
      models: [{ ...route, id: 'renamed' }],
      users: [ada],
      database: { url: `literal.${gateway.databaseUrl}` },
    }
    const file = join(files.folder, 'gateway.yaml')
    expect(await gateway.reload({ text: stringify(config), file })).toEqual([])
    const said = gateway.logs.filter(({ msg }) => msg === 'a plugin failed at the new config')
    expect(JSON.stringify(said)).toContain('plugin.late')
    const status = async (model: string) =>
      (await gateway.post('/v1/chat/completions', { ...chat, model })).status
    expect([await status('renamed'), await status('m')]).toEqual([200, 404])
  } finally {
    await gateway.stop()
  }
})

test('a package that is not installed', async () => {
  expect(await startWith([{ use: 'npm:nobody-has-this' }])).toContain(
    'plugin npm:nobody-has-this cannot be loaded',
  )
})

test('two middlewares of one id name both plugins', async () => {
  const setup = `ctx.provide(middleware, { id: 'same', around: 'decode', async handle(_, next) { await next() } })`
  const entries = ['one', 'two'].map((name) => ({ use: files.plugin(name, { setup }) }))
  const message = await startWith(entries)
  expect(message).toContain(
    '"plugin.two" provides the middleware "same", which plugin "plugin.one"',
  )
})

describe('on_boot_failure: disable', () => {
  const disable = { on_boot_failure: 'disable' }
  const providing = `ctx.provide(middleware, { id: 'half', around: 'respond', async handle(e, next) { e.setHeader('x-half', '1'); await next() } });`

  test.each([
    ['set-up', { setup: `${providing} throw new Error('planted')` }],
    [
      'migration',
      { manifest: `migrations: [{ name: '0001_bad', sql: 'nonsense' }],`, setup: providing },
    ],
    ['shape', { setup: `${providing} ctx.provide(accountingSinks, {} as never)` }],
    ['requirement', { manifest: `requires: ['plugin.left-out-first'],`, setup: providing }],
  ])('leaves a plugin out whose %s fails, whole, and says so', async (what, text) => {
    const first = files.plugin('left-out-first', { setup: `throw new Error('first')` })
    const use = files.plugin(`left-out-${what}`, text)
    const gateway = await startTestGateway({
      ...simulated,
      plugins: [{ use: 'builtin:*' }, { use: first, ...disable }, { use, ...disable }],
    })
    try {
      const id = `plugin.left-out-${what}`
      const ready = await fetch(`${gateway.url}/readyz`)
      expect(ready.status).toBe(200)
      expect(await ready.json()).toMatchObject({
        status: 'degraded',
        checks: { plugins: { left_out: ['plugin.left-out-first', id] } },
      })
      expect(gateway.registry.plugins.some((plugin) => plugin.id === id)).toBe(false)
      const warned = gateway.logs.filter((line) => line.plugin === id && line.level === 40)
      expect(warned).toMatchObject([{ msg: 'the plugin failed to start and is left out', use }])
      const reply = await gateway.post('/v1/chat/completions', {
        model: 'm',
        messages: [{ role: 'user', content: 'x' }],
      })
      expect(reply.status).toBe(200)
      expect(reply.headers.get('x-half')).toBeNull()
    } finally {
      await gateway.stop()
    }
  })

  test.each([
    ['a provider is of its type', 'builtin:simulator', {}, 'providers[0] has its type simulator'],
    [
      'a section is its own',
      'builtin:request-log',
      { request_logging: {} },
      'the config has its section request_logging',
    ],
    [
      'a policy names its pack',
      'builtin:core-git',
      { guardrails: { default: { enabled: true, mode: 'deny', packs: ['core.git'] } } },
      'core.git comes from plugin "guardrail-pack.core-git", which is disabled when it fails',
    ],
    [
      'a declared server is called in its auth mode',
      'builtin:gateway-bearer-token',
      {
        mcp: {
          servers: [
            {
              server_key: 'notes',
              display_name: 'Notes',
              server_url: 'https://notes.example.com/mcp',
              auth_mode: 'gateway_bearer_token',
              auth_config: { secret_ref: 'env/GATEWAY_MCP_SECRET_NOTES' },
            },
          ],
        },
      },
      'gateway_bearer_token comes from plugin',
    ],
  ])('is refused where %s', async (_, use, more, message) => {
    expect(await startWith([{ use, ...disable }], more)).toContain(message)
  })
})
