import { expect, test } from 'bun:test'
import { mcpAuthModes } from 'model-gateway/mcp'
import { setUpPlugin, testMcpAuthMode, testPlugin } from 'model-gateway/testing'
import plugin from './src/index.ts'
import { claimsOf, tokenOf } from './src/token.ts'

const NAME = 'GATEWAY_MCP_SECRET_EXAMPLE'
const secret_ref = `env/${NAME}`
const right = { secret_ref, audience: 'greeter' }
const now = new Date('2026-01-31T12:00:00.900Z')
const time = Math.floor(now.getTime() / 1000)

testPlugin({ plugin })

testMcpAuthMode({
  plugin,
  mode: 'gateway_signed_token',
  valid: [{ authConfig: right }, { authConfig: { ...right, lifetime_secs: 5 } }],
  invalid: [
    { authConfig: { ...right, secret_ref: 'env/PATH' }, field: 'auth_config.secret_ref' },
    { authConfig: { ...right, audience: 'two words' }, field: 'auth_config.audience' },
    { authConfig: { ...right, lifetime_secs: 601 }, field: 'auth_config.lifetime_secs' },
    { authConfig: right, serverUrl: 'http://mcp.example.test/mcp', field: 'server_url' },
  ],
  sends: [
    {
      authConfig: right,
      env: { [NAME]: 'canary-4711' },
      headers: { authorization: expect.stringMatching(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/) },
    },
  ],
})

/** The token of one call. The key is set only during this call. */
async function sent(authConfig: object, key = 'canary-4711'): Promise<string> {
  const bench = await setUpPlugin({
    plugin,
    config: { issuer: 'us' },
    capabilities: { clock: { now: () => now } },
  })
  const before = process.env[NAME]
  process.env[NAME] = key
  try {
    const [mode] = bench.of(mcpAuthModes)
    if (mode?.kind !== 'gateway') throw bench.error
    const server = { serverKey: 'docs', authConfig }
    const headers = await mode.headers(server as never, new AbortController().signal)
    return headers.authorization?.replace('Bearer ', '') ?? ''
  } finally {
    if (before === undefined) delete process.env[NAME]
    else process.env[NAME] = before
    await bench.dispose()
  }
}

test('a token has issuer, audience and expiry', async () => {
  const claims = claimsOf(await sent({ ...right, lifetime_secs: 30 }), 'canary-4711')
  expect(claims).toMatchObject({ iss: 'us', aud: 'greeter', iat: time, exp: time + 30 })
  expect(claimsOf(await sent(right), 'canary-4711')?.exp).toBe(time + 60)
})

test('each call has another token', async () => {
  const ids = [await sent(right), await sent(right)].map(
    (token) => claimsOf(token, 'canary-4711')?.jti,
  )
  expect(new Set(ids).size).toBe(2)
})

test('refuses another key, claim or algorithm', async () => {
  const token = await sent(right)
  const [head, claims = '', signature] = token.split('.')
  expect(claimsOf(token, 'another')).toBeUndefined()
  const own = { iss: 'us', aud: 'them', iat: time, exp: time + 60, jti: '1' }
  const [, others] = tokenOf(own, 'canary-4711').split('.')
  expect(claimsOf(`${head}.${others}.${signature}`, 'canary-4711')).toBeUndefined()
  const unsigned = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  expect(claimsOf(`${unsigned}.${claims}.`, 'canary-4711')).toBeUndefined()
})
