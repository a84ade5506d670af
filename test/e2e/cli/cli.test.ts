import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { runCommand } from '../../harness/command.ts'
import { createTestDatabase } from '../../harness/database.ts'
import { ended } from '../../harness/ended.ts'
import { testKey } from '../../harness/gateway.ts'

const MAIN = new URL('../../../plugins/standard/main.ts', import.meta.url).pathname

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-cli-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a command in the folder of this file, in this process. */
const command = (args: string[], env: Record<string, string> = {}) =>
  runCommand(args, { cwd: folder, env })

/** Runs `gateway` as a process in the folder of this file. */
async function gateway(args: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return await ended(child)
}

describe('gateway check-config', () => {
  test('reports ten mistakes of ten', async () => {
    writeFileSync(
      join(folder, 'ten.yaml'),
      `server: { bind: nowhere }
providers:
  - { id: a, type: generic_compat, base_url: https://a.test/v1, auth: { mode: bearer, token: sk-bare } }
  - { id: a, type: simulator }
  - { id: b, type: nonsense }
  - { id: router, type: generic_compat, base_url: https://openrouter.ai/api/v1 }
models:
  - id: m
    routes:
      - { provider: nobody, upstream_model: x }
      - { provider: a, upstream_model: y, capabilites: {} }
      - provider: router
        upstream_model: z
        compatibility: { aggregator: { provider: { only: [p], ignore: [p] } } }
  - { id: loop, alias_of: loop }
users:
  - { name: Ada, email: ada@example.com, team: { key: ghosts, role: member } }
pricing:
  overrides:
    - { pricing_provider_id: a, model: y, input_usd_per_million: 2.5 }
`,
    )
    const { out, code } = await gateway(['check-config', '--config', 'ten.yaml'])
    expect(code).toBe(1)
    expect(out).toContain('10 problems')
    for (const path of [
      'server.bind',
      'providers[0].auth.token',
      'providers[1].id',
      'providers[2].type',
      'models[0].routes[0].provider',
      'models[0].routes[1].capabilites',
      'models[0].routes[2].compatibility.aggregator.provider',
      'models[1].alias_of',
      'users[0].team',
      'pricing.overrides[0].input_usd_per_million',
    ]) {
      expect(out).toContain(path)
    }
    expect(out).not.toContain('sk-bare')
  })

  test('describes the form of a name that has the wrong form', async () => {
    writeFileSync(
      join(folder, 'forms.yaml'),
      `auth: { quickstart_user: ada }
service_accounts: [{ key: s, name: S, team: Search, budget: { cadence: daily, amount_usd: "5" } }]
`,
    )
    const { out } = await command(['check-config', '--config', 'forms.yaml'])
    expect(out).toContain('is not valid: Email address of a user; the first start')
    expect(out).toContain('is not valid: Key of the team of the service account')
  })

  test('accepts the example config, unchanged and with all its options switched on', async () => {
    const example = readFileSync(new URL('../../../gateway.example.yaml', import.meta.url), 'utf8')
    const env = {
      OPENAI_API_KEY: 'sk-1',
      OPENROUTER_API_KEY: 'sk-2',
      ANTHROPIC_API_KEY: 'sk-3',
      GEMINI_API_KEY: 'AIza-4',
      AZURE_OPENAI_API_KEY: 'azure-5',
      ADA_GATEWAY_KEY: testKey('ada'),
      REPORT_GATEWAY_KEY: testKey('report'),
      SMTP_PASSWORD: 'smtp-1',
      GATEWAY_ADMIN_PASSWORD: 'correct horse battery',
      GATEWAY_DATABASE_URL: 'postgres://gateway@127.0.0.1/gateway',
    }
    const switchedOn = example.replace(/^(\s*)#(?=[\w-])(?!- )/gm, '$1')
    expect(switchedOn).not.toBe(example)
    for (const text of [example, switchedOn]) {
      writeFileSync(join(folder, 'example.yaml'), text)
      const { out, code } = await command(['check-config', '--config', 'example.yaml'], env)
      expect(out).toContain('is valid')
      expect(code).toBe(0)
    }
  })

  test('the error for a missing config file names the file', async () => {
    const { err, code } = await command(['check-config', '--config', 'gone.yaml'])
    expect(code).toBe(1)
    expect(err).toMatch(/^gateway: the config file .*gone\.yaml cannot be read: .*\n$/)
  })

  test('a package that is not installed is not downloaded from a registry', async () => {
    const asked: string[] = []
    const registry = Bun.serve({
      port: 0,
      fetch({ url }) {
        asked.push(url)
        return new Response(null, { status: 404 })
      },
    })
    writeFileSync(join(folder, 'imports.ts'), "export { default } from 'gateway-plugin-mistyped'")
    writeFileSync(
      join(folder, 'mistyped.yaml'),
      'plugins: [{ use: npm:gateway-provider-mistyped }, { use: ./imports.ts }]',
    )
    try {
      const { out, code } = await gateway(['check-config', '--config', 'mistyped.yaml'], {
        BUN_CONFIG_REGISTRY: registry.url.href,
      })
      expect([code, asked]).toEqual([1, []])
      expect(out).toContain('plugin npm:gateway-provider-mistyped cannot be loaded')
      expect(out).toContain(`no node_modules of ${folder} or above has it`)
      expect(out).toContain('plugin ./imports.ts cannot be loaded')
    } finally {
      await registry.stop(true)
    }
  })

  test('refuses an unexpected argument', async () => {
    expect(await command(['check-config', '--strict'])).toEqual({
      code: 2,
      out: '',
      err: "gateway: unexpected argument '--strict'; run 'gateway help' for the arguments of each command\n",
    })
  })

  test('an empty variable counts as not set', async () => {
    const { out, code } = await command(['check-config'], { GATEWAY_CONFIG: '' })
    expect([code, out]).toEqual([0, expect.stringContaining('quick start config is valid')])
  })

  test('GATEWAY_CONFIG names the config file, and --config goes before it', async () => {
    for (const name of ['named', 'other']) writeFileSync(join(folder, `${name}.yaml`), 'users: []')
    const env = { GATEWAY_CONFIG: 'named.yaml' }
    expect((await command(['check-config'], env)).out).toContain('named.yaml is valid')
    const other = ['check-config', '--config', 'other.yaml']
    expect((await command(other, env)).out).toContain('other.yaml is valid')
  })
})

test('gateway migrate lists and applies migrations, and then finds none', async () => {
  const database = await createTestDatabase()
  const env = { DATABASE_URL: database.url }
  try {
    const pending = await command(['migrate', '--check'], env)
    expect(pending.code).toBe(1)
    expect(pending.out).toContain('plugin.identity 0001_')
    const applied = await command(['migrate'], env)
    expect(applied.code).toBe(0)
    expect(await command(['migrate', '--check'], env)).toMatchObject({ code: 0 })
  } finally {
    await database.drop()
  }
}, 30_000)

test('gateway healthcheck asks the gateway at the address of the config, on this machine', async () => {
  const answers: Record<string, number> = { '/healthz': 200 }
  const server = Bun.serve({
    port: 0,
    fetch: ({ url }) => new Response(null, { status: answers[new URL(url).pathname] ?? 404 }),
  })
  const { port } = server
  const bind = `0.0.0.0:${port}`
  writeFileSync(join(folder, 'health.yaml'), `server: { bind: '${bind}' }\n`)
  const check = ['healthcheck', '--config', 'health.yaml']
  expect(await gateway(check)).toMatchObject({ code: 0, out: 'ok\n' })
  // A running gateway keeps its config when the file breaks; its address is in the environment then.
  writeFileSync(join(folder, 'health.yaml'), 'server: { bind: nowhere }\n')
  expect(await command(check, { GATEWAY_BIND: bind })).toMatchObject({ code: 0 })
  answers['/healthz'] = 503
  expect(await command(check, { GATEWAY_BIND: bind })).toMatchObject({ code: 1 })
  await server.stop(true)
  const away = await command(check, { GATEWAY_BIND: bind })
  expect(away.code).toBe(1)
  expect(away.out).toContain(`127.0.0.1:${port}`)
  const everywhere = await command(check, { GATEWAY_BIND: `[::]:${port}` })
  expect(everywhere.out).toContain(`http://[::1]:${port}/healthz`)
}, 30_000)

test('gateway help lists the commands of plugins; unknown ones and wrong arguments exit with 2', async () => {
  const help = await gateway(['help'])
  expect(help.out).toContain('gateway keys create')
  expect(await command(['dance'])).toMatchObject({ code: 2 })
  expect(await command(['serve', 'now'])).toMatchObject({ code: 2 })
  expect(await command(['--config'])).toMatchObject({ code: 2 })
}, 30_000)

test.each(['serve --help', 'keys create -h', 'guard --help', 'plugin new --help'])(
  'gateway %s prints the help and does nothing else',
  async (line) => {
    const { out, code } = await gateway(line.split(' '))
    expect(out).toContain('gateway check-config')
    expect(out).toContain('gateway keys create')
    expect(code).toBe(0)
    expect(existsSync(join(folder, '.gateway'))).toBe(false)
  },
  30_000,
)

test.each(['version', '--version'])(
  'gateway %s prints the version',
  async (word) => {
    const { version } = await Bun.file(new URL('../../../package.json', import.meta.url)).json()
    expect(await command([word])).toMatchObject({ code: 0, out: `${version}\n` })
  },
  30_000,
)

test('the error for an unusable data directory is one line', async () => {
  writeFileSync(join(folder, 'no-folder'), '')
  const { err, code } = await gateway(['serve', '--data-dir', 'no-folder'])
  expect(code).toBe(1)
  expect(err).toMatch(
    /^gateway: the database in the data directory no-folder cannot be used: .+\n$/,
  )
}, 30_000)

test('so is the one for a data directory that is not writable, with another database', async () => {
  const database = await createTestDatabase('started')
  try {
    const { err, code } = await gateway(['serve', '--data-dir', '/dev/null/data'], {
      DATABASE_URL: database.url,
      GATEWAY_BIND: '127.0.0.1:0',
    })
    expect(code).toBe(1)
    expect(err.trim().split('\n').at(-1)).toMatch(
      /cannot write to the data directory \/dev\/null\/data \(ENOTDIR\): choose another with --data-dir or GATEWAY_DATA_DIR$/,
    )
  } finally {
    await database.drop()
  }
}, 20_000)

test('output that cannot be written is a failure, except when its reader has closed the pipe', async () => {
  const line = `"${process.execPath}" "${MAIN}"`
  const full = Bun.spawnSync(['sh', '-c', `${line} help > /dev/full`], { cwd: folder })
  expect(full.exitCode).toBe(1)
  expect(full.stderr.toString()).toMatch(/^gateway: standard output cannot be written: ENOSPC.*\n$/)
  const left = Bun.spawnSync(['sh', '-c', `(${line} openapi; echo $? >&2) | true`], { cwd: folder })
  expect(left.stderr.toString()).toBe('0\n')
}, 30_000)

test('when a command of a plugin fails, the log does not say that the start failed', async () => {
  writeFileSync(
    join(folder, 'fails.ts'),
    `import { commands, definePlugin, strictObject, UsageError } from 'model-gateway/plugin'
export default definePlugin({
  manifest: {
    id: 'plugin.fails', version: '1.0.0', contract: 1, summary: 'A test.', config: strictObject({}),
    needs: [], commands: [{ name: 'fails', summary: 'Fails.', usage: '[WORD]' }],
  },
  setup(ctx) {
    const run = async ([word]) => {
      throw word === undefined ? new Error('planted') : new UsageError('not ' + word)
    }
    ctx.provide(commands, { name: 'fails', run })
  },
})
`,
  )
  writeFileSync(
    join(folder, 'fails.yaml'),
    "plugins: [{ use: 'builtin:*' }, { use: ./fails.ts }]\n",
  )
  const database = await createTestDatabase('started')
  try {
    const line = ['fails', '--config', 'fails.yaml']
    const { code, err } = await gateway(line, { DATABASE_URL: database.url })
    expect(code).toBe(1)
    expect(err).toContain('planted')
    expect(err).toContain('the command failed')
    expect(err).not.toContain('could not start')
    const wrong = await command([...line, 'so'], { DATABASE_URL: database.url })
    expect(wrong.code).toBe(2)
    expect(wrong.err).toEndWith('gateway: not so\nusage: gateway fails [WORD]\n')
    expect(await command(['failsafe', ...line.slice(1)])).toMatchObject({ code: 2 })
  } finally {
    await database.drop()
  }
}, 30_000)

test('the quick start prints a key and curl lines that work as printed', async () => {
  // As root, Postgres runs under another account, which must be able to enter the folder.
  chmodSync(folder, 0o711)
  const child = Bun.spawn([process.execPath, MAIN], {
    cwd: folder,
    env: { ...process.env, GATEWAY_BIND: '127.0.0.1:0' },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  try {
    const lines: string[] = []
    const reader = child.stdout.getReader()
    const decoder = new TextDecoder()
    let text = ''
    while (lines.length < 2) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`the gateway ended: ${text}`)
      text += decoder.decode(value)
      lines.splice(0, lines.length, ...text.split('\n').filter((line) => line.startsWith('curl ')))
    }
    expect(text.match(/gwk_[a-z2-7]{16}\.[\w-]{43}/g)?.length).toBe(3)
    const [buffered, streamed] = await Promise.all(
      lines.map(
        async (line) =>
          await new Response(Bun.spawn(['sh', '-c', line], { stderr: 'ignore' }).stdout).text(),
      ),
    )
    expect(JSON.parse(buffered ?? '').choices[0].message.content).toBeString()
    expect(streamed).toContain('data: [DONE]')

    const env = { GATEWAY_BIND: '127.0.0.1:0', GATEWAY_DATA_DIR: '' }
    const second = await gateway(['serve'], env)
    expect(second.code).toBe(1)
    expect(second.err).toContain('.gateway')
    const key = await gateway(
      ['keys', 'create', '--user', 'demo@example.com', '--model', 'demo'],
      env,
    )
    expect(key.out).toContain('gwk_')
    const nobody = await gateway(['keys', 'create', '--user', 'nobody@example.com', '--all-models'])
    expect(nobody.code).not.toBe(0)
    expect(nobody.err).toContain('nobody@example.com')
  } finally {
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
  }
}, 60_000)

test('the id of each built-in plugin contains the name of its folder', () => {
  for (const [name, plugin] of Object.entries(builtins)) {
    expect(plugin.manifest.id.split('.')[1]).toBe(name)
  }
})
