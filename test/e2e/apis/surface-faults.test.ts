import { afterAll, expect, test } from 'bun:test'
import { eventually, startTestGateway } from '../../harness/gateway.ts'
import { chat, pluginFolder, simulated } from '../plugins/plugin-files.fixture.ts'

const files = pluginFolder()
afterAll(() => files.remove())

const surface = (more: string) =>
  `{ id: 'talk', paths: ['/v1/talk'], dialect: 'talk', operation: 'chat_completions', read: () => ({ model: 'm', stream: false, features: [], exposedToolCount: undefined }), ${more} }`
const conversion = (from: string, to: string) =>
  `{ from: '${from}', to: '${to}', request: () => () => ({ body: {} }), reply: (reply) => reply, stream: (stream) => stream }`

let count = 0
function plugin(setup: string, manifest = '') {
  count += 1
  return { use: files.plugin(`surface-${count}`, { setup, manifest }) }
}

test.each([
  [
    'a path of another surface',
    `ctx.provide(kit.surfaces, ${surface("paths: ['/v1/chat/completions']")})`,
    '',
    'provides POST /v1/chat/completions, which plugin "plugin.api-chat" already provides',
  ],
  [
    'a path of a route',
    `ctx.provide(kit.surfaces, ${surface('')})
     ctx.provide(kit.httpRoutes, { method: 'POST', path: '/v1/talk', handle: () => new Response() })`,
    '',
    'provides POST /v1/talk, which plugin',
  ],
  [
    'an invalid path',
    `ctx.provide(kit.surfaces, ${surface("paths: ['v1/talk']")})`,
    '',
    'the surface "talk" has the path "v1/talk", which must look like /v1/things',
  ],
  [
    'an id of another surface',
    `ctx.provide(kit.surfaces, ${surface("id: 'messages'")})`,
    '',
    'provides the surface "messages", which plugin "plugin.api-messages" already provides',
  ],
  [
    'an operation that is not a dialect',
    `ctx.provide(kit.surfaces, ${surface("operation: 'talk'")})`,
    '',
    'the operation "talk" of the surface "talk" is not a dialect that a loaded plugin declares',
  ],
  [
    'a conversion to itself',
    `ctx.provide(kit.conversions, ${conversion('talk', 'talk')})`,
    '',
    'the conversion converts "talk" to itself',
  ],
  [
    'a second conversion of a pair',
    `ctx.provide(kit.conversions, ${conversion('messages', 'chat_completions')})`,
    '',
    'provides the conversion from "messages" to "chat_completions", which plugin "plugin.api-messages"',
  ],
  [
    'a dialect that is not declared',
    `ctx.provide(kit.dialects, { id: 'talk', readReply: () => ({}) })`,
    '',
    'provides "talk", a dialect that its manifest does not declare',
  ],
  [
    'a dialect that is not provided',
    '',
    `dialects: ['talk'],`,
    'declares the dialect "talk" but does not provide it',
  ],
])(
  '%s stops the start, and is named',
  async (_, setup, manifest, message) => {
    const started = startTestGateway({
      ...simulated,
      plugins: [{ use: 'builtin:*' }, plugin(setup, manifest)],
    })
    const error: unknown = await started.then(
      (gateway) => gateway.stop(),
      (thrown: unknown) => thrown,
    )
    expect(String(error)).toContain(message)
  },
  30_000,
)

test('the start warns of an executor for an undeclared dialect, and names its routes', async () => {
  const provider = plugin(
    `const bind = () => ({ supports: [], pricing: { model: 'u' }, execute: { chatt: async () => ({}) } })
     ctx.provide(kit.providerFactories, { type: 'odd', create: () => ({ bind }) })`,
    `providerTypes: [{ type: 'odd', config: Type.Object({}), compatibility: Type.Object({}) }],`,
  )
  const gateway = await startTestGateway({
    ...simulated,
    providers: [...simulated.providers, { id: 'odd', type: 'odd' }],
    models: [...simulated.models, { id: 'o', routes: [{ provider: 'odd', upstream_model: 'u' }] }],
    plugins: [{ use: 'builtin:*' }, provider],
  })
  try {
    expect(gateway.logs).toContainEqual(
      expect.objectContaining({
        level: 40,
        dialect: 'chatt',
        routes: ['o/odd/u'],
        msg: 'routes execute a dialect that no loaded plugin declares',
      }),
    )
    expect((await gateway.post('/v1/chat/completions', { ...chat, model: 'o' })).status).toBe(400)
  } finally {
    await gateway.stop()
  }
}, 30_000)

test('what a surface, a dialect or a conversion throws or hands over wrongly fails its request alone', async () => {
  const faults = {
    throws: `read() { throw new TypeError('secret detail') }`,
    promises: `read: async () => ({ model: 'm', stream: false, features: [] })`,
    nonsense: `read: () => 7`,
    errors: `read() { throw new GatewayError('invalid_request', 'words: are missing') }, error() { throw new Error('secret detail') }`,
    headers: `headers() { throw new Error('secret detail') }`,
  }
  const surfaces = Object.entries(faults).map(
    ([id, more]) =>
      `ctx.provide(kit.surfaces, ${surface(`id: '${id}', paths: ['/v1/${id}'], ${more}`)})`,
  )
  const use = plugin(
    `${surfaces.join('\n')}
     ctx.provide(kit.surfaces, ${surface('')})
     ctx.provide(kit.conversions, { ...${conversion('talk', 'chat_completions')}, request() { throw new TypeError('secret detail') } })`,
  )
  const gateway = await startTestGateway({ ...simulated, plugins: [{ use: 'builtin:*' }, use] })
  try {
    for (const [path, status] of [
      ['/v1/throws', 500],
      ['/v1/promises', 500],
      ['/v1/nonsense', 500],
      ['/v1/errors', 400],
      ['/v1/headers', 500],
      ['/v1/talk', 500],
    ] as const) {
      const reply = await gateway.post(path, { model: 'm' })
      const text = await reply.text()
      expect([path, reply.status, text]).toEqual([
        path,
        status,
        expect.stringContaining(reply.headers.get('x-request-id') ?? 'no id'),
      ])
      expect(text).not.toContain('secret detail')
    }
    expect((await gateway.post('/v1/chat/completions', chat)).status).toBe(200)
    await eventually(async () => {
      const rows = await gateway.sql`select status_code from request_log.request_logs`
      return rows.length === 7 ? rows : undefined
    })
    const told = gateway.logs.map(({ err }) => (err as { message?: string } | undefined)?.message)
    expect(told.join('\n')).toContain('the surface throws failed to read a request')
    expect(told.join('\n')).toContain('the surface promises returned an invalid call')
  } finally {
    await gateway.stop()
  }
}, 30_000)
