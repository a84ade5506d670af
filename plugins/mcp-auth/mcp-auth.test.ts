import { afterEach, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import type { McpAuthMode } from 'model-gateway/mcp'
import type { Plugin } from 'model-gateway/plugin'
import gatewayBearerToken from './gateway-bearer-token/index.ts'
import gatewayStaticHeader from './gateway-static-header/index.ts'
import none from './none/index.ts'
import oauthObo from './oauth-obo/index.ts'
import userPassthrough from './user-passthrough/index.ts'

const SECRET = 'GATEWAY_MCP_SECRET_TEST'
const secret_ref = `env/${SECRET}`
const signal = new AbortController().signal
afterEach(() => {
  delete process.env[SECRET]
})

/** The mode that a plugin provides. */
async function modeOf(plugin: Plugin<never, never>): Promise<McpAuthMode> {
  const provided: unknown[] = []
  const context = { provide: (_: unknown, mode: unknown) => provided.push(mode) }
  await plugin.setup(context as never)
  expect(provided).toHaveLength(1)
  return provided[0] as McpAuthMode
}

const plugins = [none, gatewayStaticHeader, gatewayBearerToken, userPassthrough, oauthObo]
const [open, header, bearer, passthrough, obo] = (await Promise.all(
  plugins.map((plugin) => modeOf(plugin as never)),
)) as [McpAuthMode, McpAuthMode, McpAuthMode, McpAuthMode, McpAuthMode]

function problemsOf(
  mode: McpAuthMode,
  authConfig: Record<string, unknown>,
  url = 'https://a.test/',
) {
  const shape = [...Value.Errors(mode.configSchema, authConfig)].map(({ path }) => path)
  if (shape.length > 0) return shape
  const declaration = { serverUrl: new URL(url), authConfig, plainHttpAllowed: false }
  return [...mode.validate(declaration)].map(({ field }) => field)
}

function headersOf(mode: McpAuthMode, authConfig: Record<string, unknown>) {
  if (mode.kind !== 'gateway') throw new Error('the caller authenticates')
  return mode.headers({ serverKey: 'docs', authConfig }, signal)
}

test('the five modes, and who authenticates in each', () => {
  expect([open, header, bearer, passthrough, obo].map(({ mode, kind }) => [mode, kind])).toEqual([
    ['none', 'gateway'],
    ['gateway_static_header', 'gateway'],
    ['gateway_bearer_token', 'gateway'],
    ['user_passthrough', 'caller'],
    ['oauth_obo', 'caller'],
  ])
})

test('each mode has a strict config schema', () => {
  expect(problemsOf(open, {})).toEqual([])
  expect(problemsOf(open, {}, 'http://a.test/')).toEqual([])
  expect(problemsOf(open, { secret_ref })).toEqual(['/secret_ref'])
  expect(problemsOf(bearer, { secret_ref })).toEqual([])
  expect(problemsOf(bearer, {})).toContain('/secret_ref')
  expect(problemsOf(bearer, { secret_ref }, 'http://a.test/')).toEqual(['server_url'])
  expect(problemsOf(header, { secret_ref, header_name: 'X-Api-Key' })).toEqual([])
  expect(problemsOf(header, { secret_ref })).toContain('/header_name')
  expect(problemsOf(header, { secret_ref, header_name: 'X' }, 'http://a.test/')).toEqual([
    'server_url',
  ])
  expect(problemsOf(passthrough, {})).toEqual([])
  expect(problemsOf(passthrough, { header: 'X-Token' })).toEqual([])
  expect(problemsOf(obo, {})).toEqual([])
  expect(problemsOf(obo, { token_exchange: { audience: 'api', secret_ref } })).toEqual([])
  expect(problemsOf(obo, { token_exchange: { client_secret: 'raw' } })).not.toEqual([])
})

test.each([
  'env/PATH',
  'env/GATEWAY_MCP_SECRET_',
  'env/GATEWAY_MCP_SECRET_a',
  'env/GATEWAY_MCP_SECRET_A/../B',
  'env.GATEWAY_MCP_SECRET_A',
  'GATEWAY_MCP_SECRET_A',
  'file/etc/passwd',
  'env/DATABASE_URL',
  'literal.token',
  '',
])('%j is not a reference to a secret', (reference) => {
  expect(problemsOf(bearer, { secret_ref: reference })).toEqual(['/secret_ref'])
})

test.each([
  'host',
  'Host',
  'connection',
  'content-length',
  'Content-Type',
  'mcp-session-id',
  'MCP-Name',
  'transfer-encoding',
  'te',
  'upgrade',
  'proxy-authorization',
  'x-forwarded-for',
  'sec-fetch-site',
  'traceparent',
  'tracestate',
  'expect',
  'accept',
  'accept-encoding',
  'x-request-id',
  'x-gateway-api-key',
  'a b',
  'a:b',
  'ä',
  'a\r\nb',
])('%j cannot carry a secret', (name) => {
  expect(problemsOf(header, { secret_ref, header_name: name })).toEqual(['auth_config.header_name'])
  expect(problemsOf(passthrough, { header: name })).toEqual(['auth_config.header'])
})

test('the secret is read for each call', async () => {
  expect(await headersOf(open, {})).toEqual({})
  process.env[SECRET] = 'first'
  expect(await headersOf(bearer, { secret_ref })).toEqual({ authorization: 'Bearer first' })
  process.env[SECRET] = 'second'
  expect(await headersOf(header, { secret_ref, header_name: 'X-Key' })).toEqual({
    'x-key': 'second',
  })
})

test('a secret that is missing, or would break a header, is named and not shown', async () => {
  const messageOf = async () => {
    try {
      await headersOf(bearer, { secret_ref })
    } catch (error) {
      return (error as Error).message
    }
    return 'none'
  }
  expect(await messageOf()).toBe(
    `the gateway has no credentials for the MCP server docs: ${SECRET} is not set`,
  )
  for (const value of ['two\r\nlines', 'ümlaut', ' padded ']) {
    process.env[SECRET] = value
    const message = await messageOf()
    expect(message).toContain('cannot be sent in a header')
    expect(message).not.toContain(value.trim())
  }
})
