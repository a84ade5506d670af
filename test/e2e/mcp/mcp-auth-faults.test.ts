import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestGateway } from '../../harness/gateway.ts'
import { pluginFolder, simulated } from '../plugins/plugin-files.fixture.ts'
import { startMcpUpstream, toolCall } from './mcp-upstream.fixture.ts'

const SECRET = 'planted-secret'
/** What `headers` does, by the name of the mode. */
const faults = {
  throws: `() => { throw new Error('planted') }`,
  rejects: `async () => { throw new Error('planted') }`,
  nothing: `() => undefined`,
  list: `async () => [['x-token', '${SECRET}']]`,
  object: `() => new Headers({ 'x-token': '${SECRET}' })`,
  number: `() => ({ 'x-token': 7 })`,
  name: `() => ({ 'x token': '${SECRET}' })`,
  value: String.raw`() => ({ 'x-token': '${SECRET}\n' + '${SECRET}' })`,
  hangs: `() => new Promise(() => {})`,
}
const names = Object.keys(faults)
const files = pluginFolder()
const use = files.plugin('modes', {
  id: 'mcp-auth.modes',
  head: `import { mcpAuthMode, mcpAuthModes } from 'model-gateway/mcp'
const modes = Object.entries({ ${Object.entries(faults)
    .map(([name, text]) => `${name}: ${text}`)
    .join(', ')} }).map(([mode, headers]) => mcpAuthMode({
      mode, kind: 'gateway', configSchema: kit.strictObject({}), validate: () => [], headers: headers as any,
    }))`,
  manifest: 'declares: modes.map((spec) => ({ point: mcpAuthModes, spec })),',
  setup: 'for (const mode of modes) ctx.provide(mcpAuthModes, mode)',
})
const upstream = startMcpUpstream()
let gateway: Awaited<ReturnType<typeof startTestGateway>>
beforeAll(async () => {
  gateway = await startTestGateway({
    ...simulated,
    plugins: [{ use: 'builtin:*' }, { use }],
    mcp: {
      allow_private_networks: true,
      servers: names.map((name) => ({
        server_key: name,
        display_name: name,
        server_url: upstream.url,
        auth_mode: name,
        auth_config: {},
      })),
    },
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream.stop()
  files.remove()
})

test.concurrent.each(names)(
  'nothing is sent by an auth mode whose headers are wrong, and no secret is told: %s',
  async (name) => {
    const before = upstream.seen.length
    const reply = await gateway.post(`/mcp/${name}`, toolCall(), {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-request-id': `auth-${name}`,
    })
    expect(reply.status).toBe(500)
    expect(await reply.text()).not.toContain(SECRET)
    const said = gateway.logs.filter(({ request_id }) => request_id === `auth-${name}`)
    expect(said).toMatchObject([{ level: 50 }])
    const rule = ['throws', 'rejects'].includes(name) ? 'failed' : 'did not return'
    expect(JSON.stringify(said)).toContain(`the auth mode ${name} ${rule}`)
    expect(JSON.stringify(said)).not.toContain(SECRET)
    expect(upstream.seen).toHaveLength(before)
  },
  30_000,
)
