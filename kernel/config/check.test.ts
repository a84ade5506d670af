import { describe, expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { definePlugin, formatPath, Secret, Type } from '../plugin/index.ts'
import { checkConfig } from './check.ts'
import { asLoaded, check, lines, load, minimal, people, teams, wire } from './config.fixture.ts'
import { parseConfig } from './parse.ts'
import { formatProblems } from './problems.ts'

test('trusts addresses and ranges of proxies, and allows names of hosts', () => {
  const server = `{ trusted_proxies: [10.0.0.0/8, "::1", 10.0.0.0/33, proxy], allowed_hosts: ["http://gw", "gw:80"] }`
  expect(lines(`server: ${server}\n${minimal}`)).toHaveLength(3)
})

test('accepts origins as browsers send them, and no * together with cookies', () => {
  const origins = '["https://a.example.com", "http://localhost:3000", "app://notes", "*"]'
  expect(lines(`server: { cors: { origins: ${origins} } }\n${minimal}`)).toEqual([])
  const odd =
    '["https://a.example.com/", "https://A.example.com", "https://a:443", "a.example.com", "http://*.a"]'
  expect(lines(`server: { cors: { origins: ${odd} } }\n${minimal}`)).toHaveLength(5)
  expect(lines(`server: { cors: { origins: ["*"], credentials: true } }\n${minimal}`)).toEqual([
    expect.stringContaining('server.cors.origins'),
  ])
  expect(lines(`server: { cors: {} }\n${minimal}`)).toHaveLength(1)
})

describe('a config without errors', () => {
  test('has every default filled in', () => {
    const loaded = load(minimal)
    expect(loaded.server).toEqual({
      bind: { hostname: '127.0.0.1', port: 8080 },
      max_body_bytes: 33_554_432,
      body_timeout_ms: 30_000,
      shutdown_grace_secs: 30,
      request_ids: 'caller',
      trusted_proxies: [],
      ungoverned: false,
    })
    expect(loaded.databaseUrl).toBeUndefined()
    expect(loaded.providers).toEqual([
      {
        spec: {
          id: 'up',
          type: 'wire',
          pricingProviderId: undefined,
          timeouts: { totalMs: 120_000, idleMs: 60_000 },
          maxResponseBytes: 67_108_864,
        },
        settings: { id: 'up', defaultHeaders: {}, pricingProviderId: undefined },
        config: { base_url: 'http://up' },
      },
    ])
    expect(loaded.snapshot.models.get('m')).toEqual({
      id: 'm',
      description: undefined,
      tags: [],
      rank: 100,
      aliasOf: undefined,
      allowlist: undefined,
      routes: [
        {
          id: 'm/up/big',
          model: 'm',
          provider: 'up',
          upstreamModel: 'big',
          priority: 100,
          weight: 1,
          enabled: true,
          capabilities: {
            chat_completions: true,
            responses: true,
            embeddings: true,
            stream: true,
            tools: true,
            vision: true,
            json_schema: true,
          },
          extraHeaders: {},
          extraBody: {},
          compatibility: {},
        },
      ],
    })
    expect(loaded.snapshot.providers.get('up')?.type).toBe('wire')
    expect(loaded.snapshot.section(teams)).toEqual([])
    expect(loaded.pluginConfigs.get('plugin.people')).toEqual({ greeting: 'hello' })
  })

  test('knows a provider type by its neutral name, whatever it is called', () => {
    const loaded = load(
      minimal
        .replace('type: wire', 'type: acme_wire')
        .replace(
          'upstream_model: big',
          'upstream_model: big, compatibility: { acme_wire: { strict: true }, only: [a] }',
        ),
    )
    expect(loaded.snapshot.providers.get('up')?.type).toBe('wire')
    // Absent fields stay absent: the default of `store` is not filled in.
    expect(loaded.snapshot.models.get('m')?.routes[0]?.compatibility).toEqual({
      wire: { strict: true },
      only: ['a'],
    })
  })

  test('cannot be changed', () => {
    const { snapshot, providers, pluginConfigs } = load(minimal)
    const route = snapshot.models.get('m')?.routes[0]
    for (const value of [route, route?.capabilities, providers[0]?.config, snapshot]) {
      expect(Object.isFrozen(value)).toBe(true)
    }
    expect(Object.isFrozen(pluginConfigs.get('plugin.people'))).toBe(true)
  })

  test('may be empty, with a warning', () => {
    for (const text of ['', '# nothing yet\n', '---\n']) {
      const { loaded, problems } = check(text)
      expect(loaded?.snapshot.models.size).toBe(0)
      expect(problems.map((p) => p.severity)).toEqual(['warning'])
    }
  })

  test('takes bind address and database from the environment before the file', () => {
    const text = 'server: { bind: "0.0.0.0:1" }\ndatabase: { url: "postgres://a:b@file/db" }\n'
    const plain = load(text)
    expect(plain.server.bind).toEqual({ hostname: '0.0.0.0', port: 1 })
    expect(plain.databaseUrl?.reveal()).toBe('postgres://a:b@file/db')
    const env = { GATEWAY_BIND: '[::1]:9000', DATABASE_URL: 'postgresql://env/db' }
    const overridden = load(text, env)
    expect(overridden.server.bind).toEqual({ hostname: '::1', port: 9000 })
    expect(overridden.databaseUrl?.reveal()).toBe('postgresql://env/db')
    const empty = load(text, { GATEWAY_BIND: '', DATABASE_URL: '' })
    expect(empty.server.bind).toEqual({ hostname: '0.0.0.0', port: 1 })
    expect(empty.databaseUrl?.reveal()).toBe('postgres://a:b@file/db')
  })

  test('reading an unknown section in code throws', () => {
    const { snapshot } = load(minimal)
    expect(() => snapshot.section({ name: 'nope', schema: Type.Object({}) })).toThrow('nope')
  })
})

describe('the version', () => {
  const version = (text: string) => load(text).snapshot.version

  test('is twelve hex digits that ignore comments, layout and key order', () => {
    expect(version(minimal)).toMatch(/^[0-9a-f]{12}$/)
    const other = minimal
      .replace('{ id: up, type: wire,', '{ type:   "wire", id: up, # the one\n     ')
      .replace('models:', '\n# models\nmodels:')
    expect(version(other)).toBe(version(minimal))
  })

  test('changes with the content, not with the value behind a reference', () => {
    expect(version(minimal.replace('big', 'bigger'))).not.toBe(version(minimal))
    const text = 'teams: [{ key: a, api_keys: [{ name: k, value: env.KEY }] }]'
    expect(load(text, { KEY: 'one' }).snapshot.version).toBe(
      load(text, { KEY: 'two' }).snapshot.version,
    )
  })
})

describe('secret references', () => {
  const keys = (value: string) => `teams: [{ key: a, api_keys: [{ name: k, value: ${value} }] }]`
  const secret = (value: string, env = {}) =>
    load(keys(value), env).snapshot.section(teams)[0]?.api_keys[0]?.value

  test('become Secrets from the environment, a file or the text', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'secrets-')), 'key')
    writeFileSync(file, 'from-file\n')
    expect(secret('env.KEY', { KEY: 'from-env' })).toBeInstanceOf(Secret)
    expect(secret('env.KEY', { KEY: 'from-env' })?.reveal()).toBe('from-env')
    expect(secret(`file.${file}`)?.reveal()).toBe('from-file')
    expect(secret('literal.from.text')?.reveal()).toBe('from.text')
  })

  test.each([
    ['sk-very-secret', 'is not a secret reference'],
    ['12345678', 'must be a secret reference'],
    ['env.KEY', 'environment variable KEY is not set'],
    ['"env.very secret"', 'does not name an environment variable after env.'],
    ['file./nowhere/at/all', 'secret file /nowhere/at/all cannot be read (ENOENT)'],
    ['file.very-secret', 'must have an absolute path after file.'],
    ['literal.', 'is not a secret reference'],
  ])('%s is refused without being repeated', (value, message) => {
    const { loaded, problems } = check(keys(value))
    expect(loaded).toBeUndefined()
    expect(problems.filter((p) => p.severity !== 'warning').map((p) => p.message)).toEqual([
      message,
    ])
    expect(formatProblems(problems, 'f')).not.toMatch(/very[- ]secret|12345678/)
    expect(problems.find((p) => p.severity !== 'warning')?.hint).toBeDefined()
  })

  test('a database URL that is wrong is not repeated', () => {
    const { problems } = check('database: { url: literal.mysql://root:hunter2@db }')
    expect(formatProblems(problems, 'f')).toContain('is not a postgres:// URL')
    expect(formatProblems(problems, 'f')).not.toContain('hunter2')
    for (const url of ['mysql://root:hunter2@db', 'postgresql+asyncpg://root:hunter2@db/name']) {
      const bare = formatProblems(check(`database: { url: "${url}" }`).problems, 'f')
      expect(bare).toContain('is not a postgres:// URL — write postgres://user:password@host:5432')
      expect(bare).not.toContain('hunter2')
    }
    expect(lines('database: { url: "db:5432/name" }')).toContain(
      'database.url: is not a secret reference',
    )
  })
})

describe('one slip of the pen is one problem', () => {
  test.each([
    ['a misspelt required key', minimal.replace('base_url', 'base_ur')],
    ['a misspelt key that decides about others', minimal.replace('type: wire', 'typ: wire')],
    ['a misspelt type', minimal.replace('type: wire', 'type: wiree')],
    ['a provider without id', minimal.replace('id: up, ', '')],
    [
      'a provider whose id is a number',
      minimal.replace('id: up', 'id: 7').replace('provider: up', 'provider: "7"'),
    ],
    ['a misspelt section', minimal.replace('providers:', 'provider:')],
    ['a section that is not a list', minimal.replace(/providers:\n.*\n/, 'providers: up\n')],
    ['misspelt routes', minimal.replace('routes:', 'route:')],
    ['routes that are not a list', minimal.replace(/routes:\n.*\n/, 'routes: up\n')],
    ['a model that is not a map', `${minimal}  - text\n`],
    ['an alias to itself', `${minimal}  - { id: x, alias_of: x }\n`],
    [
      'a circle of three',
      `${minimal}  - { id: x, alias_of: y }\n  - { id: y, alias_of: z }\n  - { id: z, alias_of: x }\n`,
    ],
    ['a key of a mapping written twice', `${minimal}server: {}\nserver: {}\n`],
  ])('%s', (_, text) => {
    expect(check(minimal).problems).toEqual([])
    const { loaded, problems } = check(text)
    expect(loaded).toBeUndefined()
    expect(lines(text)).toHaveLength(1)
    expect(problems[0]?.line).toBeGreaterThan(0)
  })
})

test('a cycle of aliases is reported at its members, not at aliases that lead to it', () => {
  const aliases = ['{ id: in, alias_of: x }', '{ id: x, alias_of: y }', '{ id: y, alias_of: x }']
  expect(lines(`${minimal}${aliases.map((alias) => `  - ${alias}\n`).join('')}`)).toEqual([
    'models[2].alias_of: aliases form a cycle: "x" → "y" → "x"',
  ])
})

test('wildcards need a * on both sides, and cycles through them are found', () => {
  const problems = (...models: string[]) =>
    lines(`${minimal}${models.map((model) => `  - ${model}\n`).join('')}`)
  const route = 'routes: [{ provider: up, upstream_model: "*" }]'
  expect(
    problems(
      `{ id: "open/*", ${route} }`,
      '{ id: fast, alias_of: open/gpt-5 }',
      '{ id: "short/*", alias_of: "open/gpt-*" }',
    ),
  ).toEqual([])
  expect(
    problems(
      `{ id: "a/*/*", ${route} }`,
      `{ id: plain, ${route} }`,
      `{ id: "t/*", tags: [x], ${route} }`,
      '{ id: gone, alias_of: nothing/gpt-5 }',
    ),
  ).toEqual([
    'models[1].id: has more than one *',
    'models[2].routes[0].upstream_model: has a *, but the id has none',
    'models[3].tags: a model with a wildcard cannot have tags',
    'models[4].alias_of: model "nothing/gpt-5" does not exist',
  ])
  expect(problems('{ id: "x*", alias_of: "xa*" }')[0]).toStartWith(
    'models[1].alias_of: aliases form a cycle: "x*" → "xa*" → ',
  )
})

test('a key of a provider type may have an alias too', () => {
  const aliased = (value: string) => minimal.replace('base_url: "http://up"', value)
  expect(load(aliased('endpoint: "http://up"')).providers[0]?.config).toEqual({
    base_url: 'http://up',
  })
  expect(lines(aliased('endpoint: "http://bad"'))).toEqual(['providers[0].endpoint: is bad'])
})

describe('a block of compatibility under an alias', () => {
  const withBlocks = (blocks: string) =>
    minimal.replace('upstream_model: big', `upstream_model: big, compatibility: { ${blocks} }`)
  const at = 'models[0].routes[0].compatibility'

  test.each([
    ['acme_wire: { strict: false }', `${at}.acme_wire.strict: is not strict`],
    ['acme_wire: { strict: 1 }', `${at}.acme_wire.strict: must be true or false, but is a number`],
    ['wire: {}, acme_wire: {}', `${at}.acme_wire: is another name for wire`],
    ['acme_wier: {}', `${at}.acme_wier: is an unknown key`],
  ])('reports problems under the written name: %s', (blocks, problem) => {
    expect(lines(withBlocks(blocks))).toEqual([problem])
  })
})

test('problems of plugins keep their place when entries before them were cut out', () => {
  const text = `${minimal}teams:\n  - oops\n  - { key: a, models: [7, nope] }\n`
  expect(lines(text)).toEqual([
    'teams[0]: must be a map, but is a string',
    'teams[1].models[0]: must be a string, but is a number',
    'teams[1].models[1]: no model nope',
  ])
})

test('reports all of many mistakes, in order, and nothing else', () => {
  const text = `server:
  bind: 8080
  log_fromat: json
  max_body_bytes: 1.5
  egress_proxy: proxy.local
database:
  url: mysql
plugins: []
providers:
  - { id: good, type: wire, base_url: "http://strict", auth: { mode: bearer, token: sk-1 } }
  - { id: good, type: wire, base_url: "http://two" }
  - { id: typo, type: wyre, base_url: "http://three" }
  - { id: half, type: wire, auth: { mode: baerer }, timeouts: { total_ms: "5" } }
  - { id: rude, type: wire, base_url: "http://bad", default_headers: { "a b": x, Host: y } }
models:
  - id: tag:fast
    tags: [one, "two three"]
    routes:
      - { provider: god, upstream_model: u, extra_body: { Model: x, stream: true } }
      - { provider: half, upstream_model: u, wait: 2 }
  - id: both
    alias_of: nowhere
    routes:
      - { provider: good, upstream_model: u, compatibility: { store: false, ony: [] } }
      - { provider: good, upstream_model: u, weight: .inf }
  - { id: none }
  - { id: a, alias_of: b }
  - { id: b, alias_of: a }
teams:
  - key: t
    budget: { amount_usd: 5.50, cadence: montly }
    models: [both, missing]
  - { key: "" }
  - { key: u, budget: { amount_usd: "1.23456" } }
guardrail: {}
`
  const expected = [
    ['server.bind', 'must be a string, but is a number'],
    ['server.log_fromat', 'is an unknown key'],
    ['server.max_body_bytes', 'must be a whole number'],
    ['server.egress_proxy', 'is not valid: write a URL such as http://host'],
    ['database.url', 'is not a secret reference'],
    ['providers[0].auth.token', 'is not a secret reference'],
    ['providers[1].id', 'another entry has the same id "good"'],
    ['providers[2].type', 'provider type "wyre" does not exist'],
    ['providers[3].base_url', 'is required'],
    ['providers[3].auth.mode', 'must be one of bearer, none'],
    ['providers[3].timeouts.total_ms', 'must be a whole number, but is a string'],
    ['providers[4].base_url', 'is bad'],
    ['providers[4].default_headers["a b"]', 'is not a valid header name'],
    ['providers[4].default_headers.Host', 'is a header that cannot be set'],
    ['models[0].id', 'must not start with tag:'],
    [
      'models[0].tags[1]',
      'is not valid: a tag must not contain commas or spaces, because tag:a,b selects by two tags',
    ],
    ['models[0].routes[0].provider', 'provider "god" does not exist'],
    ['models[0].routes[0].extra_body.Model', 'is a member that the gateway sets itself'],
    ['models[0].routes[0].extra_body.stream', 'is a member that the gateway sets itself'],
    ['models[0].routes[1].wait', 'is an unknown key'],
    ['models[1]', 'has both routes and alias_of'],
    ['models[1].alias_of', 'model "nowhere" does not exist'],
    ['models[1].routes[0].compatibility.store', 'strict stores'],
    ['models[1].routes[0].compatibility.ony', 'is an unknown key'],
    ['models[1].routes[1]', 'another route has the same id both/good/u'],
    ['models[1].routes[1].weight', 'must be a finite number'],
    ['models[2]', 'has neither routes nor alias_of'],
    ['models[3].alias_of', 'aliases form a cycle: "a" → "b" → "a"'],
    ['teams[0].budget.amount_usd', 'must be a string, but is a number'],
    ['teams[0].budget.cadence', 'must be one of daily, weekly, monthly'],
    ['teams[0].models[1]', 'no model missing'],
    ['teams[1].key', 'must not be empty'],
    ['teams[2].budget.amount_usd', 'must be a decimal number with at most 4 decimal places'],
    ['guardrail', 'is an unknown key'],
  ]
  const { loaded, problems } = check(text)
  expect(loaded).toBeUndefined()
  expect(problems.map((p) => [formatPath(p.path), p.message])).toEqual(expected)

  const printed = formatProblems(problems, 'gateway.yaml').split('\n')
  expect(printed).toHaveLength(expected.length)
  expect(printed).toContain(
    'server.log_fromat (gateway.yaml:3:3): is an unknown key — did you mean "log_format"?',
  )
  expect(printed).toContain(
    'models[0].routes[0].provider (gateway.yaml:19:11): provider "god" does not exist — did you mean "good"?',
  )
  expect(printed).toContain(
    'teams[0].budget.amount_usd (gateway.yaml:31:15): must be a string, but is a number — put it in quotes: "5.5"',
  )
})

test('refuses a model that could never be called, and reports other problems once', () => {
  const told = (rest: string) =>
    check(
      `providers: [{ id: up, type: wire, base_url: "http://up" }]\nmodels: [{ id: m, ${rest} }]`,
    ).problems.map((p) => `${formatPath(p.path)} ${p.message}`)
  const routes = 'routes: [{ provider: up, upstream_model: u }]'
  const closed = 'every call of this model would be refused'
  expect(told('routes: []')).toEqual([`models[0].routes is empty, so ${closed}`])
  for (const allowlist of ['{}', '{ users: [] }', '{ users: [], teams: [] }']) {
    expect(told(`${routes}, allowlist: ${allowlist}`)).toEqual([
      `models[0].allowlist is empty, so ${closed}`,
    ])
  }
  expect(told(`${routes}, allowlist: { users: [], teams: [core] }`)).toEqual([])
  expect(told(`${routes}, allowlist: { user: [a] }`)).toEqual([
    'models[0].allowlist.user is an unknown key',
  ])
  expect(told('routes: [3]')).toEqual(['models[0].routes[0] must be a map, but is a number'])
})

test('does not suggest quotes for a number if the quoted text would not match', () => {
  const printed = (text: string) => formatProblems(check(text).problems, 'gateway.yaml')
  expect(printed(`server: { bind: 8080 }\n${minimal}`)).toContain(
    'must be a string, but is a number — write host:port, such as 127.0.0.1:8080',
  )
  expect(printed(`server: { egress_proxy: 3128 }\n${minimal}`)).toContain(
    'must be a string, but is a number — write a URL such as http://host',
  )
})

test('a value that is not a list gets a hint how to write one', () => {
  const printed = (text: string) => formatProblems(check(text).problems, 'gateway.yaml')
  expect(printed('teams: [{ key: a, models: big }]')).toContain(
    'must be a list, but is a string — put its entries in brackets, with commas between them',
  )
  expect(printed('teams: { key: a }')).toContain(
    'must be a list, but is a map — begin each of its entries with "- "',
  )
})

test('a text instead of a map gets a hint with the required keys', () => {
  const printed = (text: string) => formatProblems(check(text).problems, 'gateway.yaml')
  expect(printed('models: [fast]')).toContain('must be a map, but is a string — write { id: … }')
  expect(printed('models: [{ id: m, routes: [up] }]')).toContain(
    'must be a map, but is a string — write { provider: …, upstream_model: … }',
  )
  expect(printed(minimal.replace('id: up,', 'id: up, auth: bearer,'))).toContain(
    'must be a map, but is a string — write { mode: … }',
  )
  expect(printed('server: 8080')).toEndWith('must be a map, but is a number')
})

test('a key is taken for another where one of its words begins with it, not from the middle of a word', () => {
  const printed = (text: string) => formatProblems(check(text).problems, 'gateway.yaml')
  const server = printed(`server: { port: 8080, timeout_ms: 1 }\n${minimal}`)
  expect(server).toContain('is an unknown key — did you mean "body_timeout_ms"?')
  expect(server).toContain('is an unknown key — known keys: bind, ')
  expect(printed(`database: postgres://db/x\n${minimal}`)).toContain(
    'must be a map, but is a string — write { url: … }',
  )
})

describe('plugins that disagree', () => {
  const clone = (manifest: object) =>
    definePlugin({ manifest: { ...people.manifest, ...manifest }, setup() {} })

  test('two that claim one section, or one of the kernel', () => {
    const other = clone({ id: 'plugin.other' })
    const greedy = clone({
      id: 'plugin.greedy',
      sections: [{ name: 'models', schema: Type.Any() }],
    })
    const { problems } = check(minimal, {}, asLoaded(people, other, greedy, wire))
    expect(problems.map((p) => p.message)).toEqual([
      'plugin "plugin.other" claims section "teams", which belongs to plugin "plugin.people"',
      'plugin "plugin.greedy" claims section "models", which belongs to the kernel',
    ])
  })

  test('two that claim one key of section server, or one of the kernel', () => {
    const sections = [{ name: 'server', schema: Type.Object({ pace: Type.Integer() }) }]
    const first = clone({ id: 'plugin.first', sections })
    const other = clone({ id: 'plugin.other', sections })
    const greedy = clone({
      id: 'plugin.greedy',
      sections: [{ name: 'server', schema: Type.Object({ bind: Type.Integer() }) }],
    })
    const text = `server: { pace: 1 }\n${minimal}`
    const { problems } = check(text, {}, asLoaded(first, other, greedy, wire))
    expect(problems.map((p) => p.message)).toEqual([
      'plugin "plugin.other" claims section "server.pace", which belongs to plugin "plugin.first"',
      'plugin "plugin.greedy" claims section "server.bind", which belongs to the kernel',
    ])
  })

  test('commands that another plugin has, or the gateway itself', () => {
    const command = (name: string) => ({ name, summary: '', usage: '' })
    const first = clone({ id: 'plugin.first', sections: [], commands: [command('keys create')] })
    const other = clone({
      id: 'plugin.other',
      sections: [],
      commands: [command('migrate'), command('keys create'), command('keys')],
    })
    const { problems } = check(minimal, {}, asLoaded(wire, first, other))
    expect(problems.map((p) => p.message)).toEqual([
      'plugin "plugin.other" claims command "migrate", which belongs to the kernel',
      'plugin "plugin.other" claims command "keys create", which belongs to plugin "plugin.first"',
    ])
  })

  test('two that claim one provider type', () => {
    const other = clone({
      id: 'plugin.other',
      sections: [],
      providerTypes: [
        { type: 'acme_wire', config: Type.Object({}), compatibility: Type.Object({}) },
      ],
    })
    const { problems } = check(minimal, {}, asLoaded(people, wire, other))
    expect(problems.map((p) => p.message)).toEqual([
      'plugin "plugin.other" claims provider type "acme_wire", which belongs to plugin "provider.wire"',
    ])
  })

  test('a provider type with a field that every provider has: its plugin would never see it', () => {
    const config = Type.Object({ timeouts: Type.Integer(), id: Type.String(), own: Type.String() })
    const other = clone({
      id: 'plugin.other',
      sections: [],
      providerTypes: [{ type: 'other', config, compatibility: Type.Object({}) }],
    })
    expect(check(minimal, {}, asLoaded(wire, other)).problems.map((p) => p.message)).toEqual([
      'plugin "plugin.other" gives provider type "other" the field "timeouts", which every provider has',
      'plugin "plugin.other" gives provider type "other" the field "id", which every provider has',
    ])
  })

  test('a check that throws is a problem of its plugin', () => {
    const faulty = clone({
      id: 'plugin.faulty',
      sections: [],
      check() {
        throw new Error('boom')
      },
    })
    expect(check(minimal, {}, asLoaded(wire, faulty)).problems.map((p) => p.message)).toEqual([
      'plugin "plugin.faulty" failed to check the config: Error: boom',
    ])
  })

  test('reports a throwing check of a provider type at its plugin, with the checked part', () => {
    const faulty = clone({
      id: 'provider.faulty',
      sections: [],
      providerTypes: [
        {
          type: 'faulty',
          config: Type.Object({}),
          compatibility: Type.Object({}),
          checkProvider() {
            throw new Error('no provider')
          },
          checkRoute() {
            throw new Error('no route')
          },
        },
      ],
    })
    const text =
      'providers: [{ id: p, type: faulty }]\nmodels: [{ id: m, routes: [{ provider: p, upstream_model: u }] }]\n'
    const { problems } = check(text, {}, asLoaded(faulty))
    expect(problems.map((p) => `${formatPath(p.path)}: ${p.message}`).toSorted()).toEqual([
      'plugins: plugin "provider.faulty" failed to check models[0].routes[0]: Error: no route',
      'plugins: plugin "provider.faulty" failed to check providers[0]: Error: no provider',
    ])
  })

  test.each([
    [() => 'oops' as never],
    [() => [{ message: 'without a path' }] as never],
    [() => [{ path: [] }] as never],
  ])('a check that returns an invalid problem is a problem of its plugin', (told) => {
    const faulty = clone({ id: 'plugin.faulty', sections: [], check: told })
    expect(check(minimal, {}, asLoaded(wire, faulty)).problems.map((p) => p.message)).toEqual([
      'plugin "plugin.faulty" failed to check the config: Error: it reported a problem without path or message',
    ])
  })

  test.each([
    [
      () => {
        throw new Error('boom')
      },
      'Error: boom',
    ],
    [() => ({ type: 'object' }) as never, 'Error: schemaFor must return a TypeBox schema'],
  ])('a section without a valid schema is one too, in addition to others', (schemaFor, reason) => {
    const faulty = clone({
      id: 'plugin.faulty',
      sections: [{ name: 'extra', schema: Type.Any(), schemaFor }],
    })
    const text = `${minimal}extra: { a: 1 }\nserver: { body_timeout_ms: 0.5 }\n`
    expect(check(text, {}, asLoaded(wire, faulty)).problems.map((p) => p.message)).toEqual([
      `plugin "plugin.faulty" failed to make the schema of section extra: ${reason}`,
      'must be a whole number',
    ])
  })

  test('a section may be an object of a class', () => {
    class Section {
      readonly #allowed = ['a']
      readonly schema = Type.Any()
      get name() {
        return 'extra'
      }
      schemaFor() {
        const properties = this.#allowed.map((name) => [name, Type.Optional(Type.Integer())])
        return Type.Object(Object.fromEntries(properties))
      }
    }
    const own = clone({ id: 'plugin.own', sections: [new Section()] })
    const text = `${minimal}extra: { a: 1, b: 2 }\n`
    expect(check(text, {}, asLoaded(wire, own)).problems.map((p) => p.message)).toEqual([
      'is an unknown key',
    ])
  })

  test('a plugin config is checked against its schema, with the plugin named', () => {
    const [first, ...rest] = asLoaded(people, wire)
    if (first === undefined) throw new Error('no plugin')
    const plugins = [{ ...first, path: ['plugins', 0], config: { greeting: 7, extra: 1 } }, ...rest]
    const text = `plugins: [{ use: "builtin:people", config: { greeting: 7, extra: 1 } }]${minimal}`
    const { problems } = check(text, {}, plugins)
    expect(problems.map((p) => `${formatPath(p.path)}: ${p.message}`)).toEqual([
      'plugins[0].config.greeting: must be a string, but is a number (plugin "plugin.people")',
      'plugins[0].config.extra: is an unknown key (plugin "plugin.people")',
    ])
  })

  test('does not report keys as unknown that a plugin which failed to load may own', () => {
    const text = `${minimal}mystery: {}\n`.replace('type: wire', 'type: mystery')
    const parsed = parseConfig(text)
    const failure = { path: ['plugins', 0], message: 'cannot be loaded' }
    const resolved = { plugins: asLoaded(people), problems: [failure], complete: false }
    expect(checkConfig(parsed, resolved, {}).problems.map((p) => p.message)).toEqual([
      'cannot be loaded',
    ])
  })
})
