import { expect, test } from 'bun:test'
import type { ConfigDraft } from 'model-gateway/plugin'
import { checkMcp } from './check.ts'

function pathsOf(section: unknown): string[] {
  const draft = { section: (name: string) => (name === 'mcp' ? section : undefined) }
  return [...checkMcp(draft as ConfigDraft)].map(({ path }) => path.slice(1).join('.'))
}

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
