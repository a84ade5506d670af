import { expect, test } from 'bun:test'
import type { ConfigDraft } from 'model-gateway/host'
import { type McpAuthModeSpec, mcpAuthModes } from 'model-gateway/mcp'
import { strictObject, Type } from 'model-gateway/plugin'
import { checkMcp } from './check.ts'

const none = { mode: 'none', configSchema: strictObject({}), validate: () => [] }
const token = {
  mode: 'token',
  configSchema: strictObject({ secret_ref: Type.String({ pattern: '^env/' }) }),
  *validate({ serverUrl, plainHttpAllowed }: Parameters<McpAuthModeSpec['validate']>[0]) {
    if (serverUrl.protocol === 'https:' || plainHttpAllowed) return
    yield { field: 'server_url', message: 'must be https' }
  },
}

/** Declarations of plugins; those of the named mode are disabled when they fail. */
const brought = (modes: readonly Omit<McpAuthModeSpec, 'validate'>[], dispensable?: string) =>
  modes.map((spec) => ({
    point: mcpAuthModes.name,
    spec,
    plugin: 'plugin.of-the-mode',
    dispensable: spec.mode === dispensable,
  }))

function problemsOf(section: unknown) {
  const draft = {
    section: (name: string) => (name === 'mcp' ? section : undefined),
    declared: { brought: brought([none, token]) },
  }
  return [...checkMcp(draft as unknown as ConfigDraft)]
}

const pathsOf = (section: unknown) => problemsOf(section).map(({ path }) => path.slice(1).join('.'))

test('a section that is absent, empty or right has no problem', () => {
  expect(pathsOf(undefined)).toEqual([])
  expect(pathsOf({})).toEqual([])
  expect(
    pathsOf({
      servers: [
        { server_key: 'one', server_url: 'https://a.test/mcp' },
        { server_key: 'two', server_url: 'http://10.0.0.1:8080/mcp' },
        { server_key: undefined },
      ],
      allowed_cidrs: ['10.0.0.0/8', 'fd00::/8'],
      allowed_origins: ['https://app.example.com', 'http://localhost:3000'],
      discovery_schedule: '0 3 * * *',
    }),
  ).toEqual([])
})

test('every mistake is found, each with its path', () => {
  expect(
    pathsOf({
      servers: [
        { server_key: 'one', server_url: 'https://user@a.test/mcp' },
        { server_key: 'one', server_url: 'file:///etc/passwd' },
      ],
      allowed_cidrs: ['10.0.0.0', '10.0.0.0/33', 'anything'],
      allowed_origins: ['https://app.example.com/', 'app.example.com', '*', 'null'],
      discovery_schedule: 'sometimes',
    }),
  ).toEqual([
    'servers.0.server_url',
    'servers.1.server_key',
    'servers.1.server_url',
    'allowed_cidrs.0',
    'allowed_cidrs.1',
    'allowed_cidrs.2',
    'allowed_origins.0',
    'allowed_origins.1',
    'allowed_origins.2',
    'allowed_origins.3',
    'discovery_schedule',
  ])
})

test.each([
  ['wiki.example/mcp', 'must be an absolute URL, such as https://mcp.example.com/mcp'],
  ['https://', 'must be an absolute URL, such as https://mcp.example.com/mcp'],
  ['https://bücher.example/mcp', 'must be a URL in ASCII, international names as xn--…'],
  ['wiki.example:8080/mcp', 'must begin with http:// or https://'],
])('the problem of the URL %s is reported', (server_url, message) => {
  const [problem] = problemsOf({ servers: [{ server_key: 'one', server_url }] })
  expect(problem?.message).toBe(message)
})

test('auth modes judge their part of every server, and nothing that has a mistake already', () => {
  const fitting = { auth_mode: 'token', auth_config: { secret_ref: 'env/A' } }
  const server_url = 'https://a.test/mcp'
  expect(
    pathsOf({
      servers: [
        { server_url, ...fitting },
        { server_url, auth_mode: 'unheard_of' },
        { server_url, auth_mode: 'token' },
        { server_url, auth_mode: 'token', auth_config: { secret_ref: 'A', more: 1 } },
        { server_url: 'http://a.test/', ...fitting },
        { server_url: 'http://127.0.0.1/', ...fitting },
        { server_url: 'http://127.0.0.1/', ...fitting, allow_private: true },
        { server_url, auth_config: { secret_ref: 'env/A' } },
        // Cut out, for they have the wrong type.
        { server_url: undefined, auth_mode: 'token', auth_config: {} },
        { server_url: 'ftp://a.test/', auth_mode: undefined, auth_config: { anything: 1 } },
        { server_url, auth_mode: 'token', auth_config: undefined },
      ],
    }),
  ).toEqual([
    'servers.1.auth_mode',
    'servers.2.auth_config.secret_ref',
    'servers.3.auth_config.more',
    'servers.3.auth_config.secret_ref',
    'servers.4.server_url',
    'servers.5.server_url',
    'servers.7.auth_config.secret_ref',
    'servers.8.auth_config.secret_ref',
    'servers.9.server_url',
  ])
})

test('a server cannot be called in a mode whose plugin may be left out, stated or by default', () => {
  const draft = (mode: string) => ({
    section: () => ({
      servers: [
        { server_key: 'one', server_url: 'https://a.test/mcp' },
        {
          server_key: 'two',
          server_url: 'https://a.test/mcp',
          auth_mode: 'token',
          auth_config: { secret_ref: 'env/TOKEN' },
        },
      ],
    }),
    declared: { brought: brought([none, token], mode) },
  })
  const problems = (mode: string) =>
    [...checkMcp(draft(mode) as unknown as ConfigDraft)].map(({ path, message }) => [
      path.join('.'),
      message.includes('"plugin.of-the-mode", which is disabled when it fails'),
    ])
  expect(problems('none')).toEqual([['mcp.servers.0.auth_mode', true]])
  expect(problems('token')).toEqual([['mcp.servers.1.auth_mode', true]])
  expect(problems('another')).toEqual([])
})

test.each([
  [
    'throws',
    () => {
      throw new Error('no table')
    },
    'validation by the auth mode odd failed: no table',
  ],
  [
    'returns an invalid problem',
    () => [{ path: ['x'] }] as never,
    'validation by the auth mode odd failed: it returned a problem without field or message',
  ],
])('an auth mode that %s is a problem of the server, and named', (_, validate, message) => {
  const odd = { mode: 'odd', configSchema: strictObject({}), validate }
  const server_url = 'https://a.test/mcp'
  const servers = [{ server_key: 'one', server_url, auth_mode: 'odd', auth_config: {} }]
  const draft = { section: () => ({ servers }), declared: { brought: brought([odd]) } }
  expect([...checkMcp(draft as unknown as ConfigDraft)]).toEqual([
    { path: ['mcp', 'servers', 0, 'auth_mode'], message },
  ])
})

test('an auth mode that a plugin which failed to load may bring is not reported as unknown', () => {
  const servers = [{ server_key: 'one', server_url: 'https://a.test/mcp', auth_mode: 'own' }]
  const problemsWith = (declared: Partial<ConfigDraft['declared']>) => [
    ...checkMcp({
      section: () => ({ servers }),
      declared: { brought: brought([none]), ...declared },
    } as unknown as ConfigDraft),
  ]
  expect(problemsWith({})).toHaveLength(1)
  expect(problemsWith({ partial: true })).toEqual([])
})
