import { describe, expect, test } from 'bun:test'
import { check, lines, minimal } from './config.fixture.ts'
import { formatProblems } from './problems.ts'

describe('addresses that only look right', () => {
  test.each([
    ['public_base_url', 'https://host:99999'],
    ['public_base_url', 'https:///'],
    ['public_base_url', 'https://[bad'],
    ['egress_proxy', 'http://host:99999'],
  ])('server.%s: %s', (key, url) => {
    const { loaded, problems } = check(`{ server: { ${key}: "${url}" }, models: [] }`)
    expect(loaded).toBeUndefined()
    expect(problems[0]).toMatchObject({
      path: ['server', key],
      message: 'is not a valid URL',
      hint: 'write http://host or https://host:port, with a port up to 65535',
      line: 1,
    })
  })

  test.each(['999.1.1.1:1', '[:::::]:80', '127.0.0.1:99999', ':8080', 'a%b:1'])(
    'nothing listens on %s',
    (bind) => {
      expect(lines(`server: { bind: "${bind}" }\n${minimal}`)).toEqual([
        'server.bind: is not an address to listen on',
      ])
      expect(lines(minimal, { GATEWAY_BIND: bind })).toEqual([
        'server.bind: GATEWAY_BIND is not an address to listen on',
      ])
    },
  )

  test.each([
    'postgres://u:sek%ret@db/x',
    'postgres://u:se/kret@db/x',
    'postgres://u:p@db:99999/x',
  ])('a database at %s', (url) => {
    for (const { problems } of [
      check(`database: { url: "${url}" }\n${minimal}`),
      check(`database: { url: "literal.${url}" }\n${minimal}`),
      check(minimal, { DATABASE_URL: url }),
    ]) {
      const text = formatProblems(problems, 'f')
      expect(text).toStartWith('database.url')
      expect(text).toContain('cannot be read as a URL')
      expect(text).toContain('% as %25')
      expect(text).not.toMatch(/sek|kret/)
      expect(problems).toHaveLength(1)
    }
  })

  test('user and password are percent-encoded, and the server may be a socket', () => {
    for (const url of [
      'postgres://u:se%25kret%40@db/x',
      'postgres://%2Frun%2Fpg/x',
      'postgres:///x',
    ]) {
      expect(check(minimal, { DATABASE_URL: url }).loaded?.databaseUrl?.reveal()).toBe(url)
    }
  })
})

test.each([
  'postgres://u:p@db:6432/x',
  'postgres://u:p@db:6543/x',
  'postgres://u:p@aws-0.pooler.example.com/x',
  'postgres://u:p@PgBouncer/x',
  'postgres://u:p@db/x?pgbouncer=true',
])('a transaction pooler is warned of: %s', (url) => {
  const fromFile = check(`database: { url: "${url}" }\n${minimal}`)
  expect(fromFile.loaded).toBeDefined()
  expect(fromFile.problems).toMatchObject([
    { path: ['database', 'url'], severity: 'warning', line: 1 },
  ])
  expect(fromFile.problems[0]?.message).toStartWith('looks like a transaction pooler')
  const { problems } = check(`database: { url: "${url}" }\n${minimal}`, {
    DATABASE_URL: 'postgres://u:pooler@db:5432/pgbouncer?pgbouncer=false',
  })
  expect(problems).toEqual([])
  const override = check(minimal, { DATABASE_URL: url }).problems
  expect(override.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^DATABASE_URL looks like/),
  ])
})

test('times are as long as a timer can count at most', () => {
  const providers = 'providers: [{ id: a, type: wire, base_url: "http://a", timeouts: TIMES }]'
  const text = (ms: number, secs: number) =>
    `server: { body_timeout_ms: ${ms}, shutdown_grace_secs: ${secs} }
${providers.replace('TIMES', `{ total_ms: ${ms}, idle_ms: ${ms} }`)}
models: [{ id: m, routes: [{ provider: a, upstream_model: u }] }]`
  expect(lines(text(2_147_483_647, 2_147_483))).toEqual([])
  expect(lines(text(2_147_483_648, 2_147_484))).toEqual([
    'server.body_timeout_ms: must be at most 2147483647',
    'server.shutdown_grace_secs: must be at most 2147483',
    'providers[0].timeouts.total_ms: must be at most 2147483647',
    'providers[0].timeouts.idle_ms: must be at most 2147483647',
  ])
})
