import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { adminClient } from '../../test/harness/admin.ts'
import { ended } from '../../test/harness/ended.ts'
import { ada, adaKey, startTestGateway, type TestGateway } from '../../test/harness/gateway.ts'
import { agents } from './hook-agents.ts'
import { runHook } from './hook-run.ts'
import { runSetupCommand } from './hook-setup.ts'

const MAIN = new URL('../standard/main.ts', import.meta.url).pathname

let root: string
let place: { cwd: string; home: string; env: Record<string, string> }
let program: string

/** Runs a command with `program` as the path of the running program. */
async function run(...args: string[]) {
  const lines: string[] = []
  const tell = (line: string) => void lines.push(line)
  const code = await runSetupCommand({ ...place, args, program: [program], out: tell, tell })
  return { code, text: lines.join('\n') }
}

const fileOf = (name: string, scope: 'project' | 'user' = 'project') =>
  agents.find((agent) => agent.name === name)?.file(scope, place.cwd, place.home, place.env) ?? ''

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'guard-hooks-')))
  const [cwd, home] = [join(root, 'my project'), join(root, 'home')]
  for (const folder of [cwd, home]) mkdirSync(folder)
  program = join(root, "the gate's way")
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
  chmodSync(program, 0o755)
  const env = { PATH: '/usr/bin:/bin', HOME: home, GATEWAY_API_KEY: 'gwk_x', SHELL: '/bin/sh' }
  place = { cwd, home, env: { ...env, GATEWAY_URL: 'http://127.0.0.1:1' } }
  return () => rmSync(root, { recursive: true })
})

describe.each(agents.map(({ name }) => name))('install for %s', (name) => {
  test('writes absolute paths and no key, says what has to be set, and can be undone', async () => {
    const { code, text } = await run('install', name)
    expect(code).toBe(0)
    const file = fileOf(name)
    const written = readFileSync(file, 'utf8')
    expect(JSON.stringify(JSON.parse(written))).toContain(`'${root}/the gate'\\\\''s way' guard`)
    expect(written + text).not.toContain('gwk_x')
    expect(text).toContain(file)
    expect(text).toContain('GATEWAY_API_KEY  an API key of the gateway. Here: set')
    expect((await run('install', name)).text).toContain(`Already installed: ${file}`)
    expect(readFileSync(file, 'utf8')).toBe(written)
    expect((await run('uninstall', name)).text).toContain(`Removed the hook from ${file}`)
    expect(existsSync(file)).toBe(false)
    expect(await run('uninstall', name)).toMatchObject({ code: 0 })
  })

  test('for the user writes into the home, and with --print nothing', async () => {
    const file = fileOf(name, 'user')
    expect(file).toStartWith(place.home)
    const { text } = await run('install', name, '--user', '--print', '--when-away', 'open')
    expect(text).toContain(`${file} would be:`)
    expect(text).toContain('--when-away open || exit 2')
    expect(existsSync(file)).toBe(false)
    await run('install', name, '--user')
    expect(existsSync(file)).toBe(true)
    expect(existsSync(fileOf(name))).toBe(false)
  })
})

test('a settings file behind a link stays one, with its rights; a broken one stays as it is', async () => {
  const file = fileOf('claude-code')
  const real = join(root, 'dotfiles.json')
  mkdirSync(dirname(file))
  writeFileSync(real, '{}', { mode: 0o600 })
  symlinkSync(real, file)
  expect(await run('install', 'claude-code')).toMatchObject({ code: 0 })
  expect(lstatSync(file).isSymbolicLink()).toBe(true)
  expect(lstatSync(real).mode & 0o777).toBe(0o600)
  expect(readFileSync(real, 'utf8')).toContain('guard --format claude_code')
  writeFileSync(real, '{"model": ')
  const broken = await run('install', 'claude-code')
  expect(broken).toMatchObject({
    code: 2,
    text: expect.stringContaining(`${file}: not valid JSON`),
  })
  expect(readFileSync(real, 'utf8')).toBe('{"model": ')
})

test.each([
  [
    ['install'],
    'exactly one agent is required, one of claude-code, codex, gemini-cli, copilot-cli',
  ],
  [['doctor', 'vim'], 'exactly one agent is required'],
  [['install', 'codex', 'claude-code'], 'exactly one agent is required'],
  [['install', 'codex', '--when-away', 'ajar'], '--when-away must be one of closed, open'],
  [['install', 'codex', '--timeout-ms', '60000'], '--timeout-ms must be at most 25000'],
  [['doctor', 'codex', '--print'], "Unknown option '--print'"],
])('wrong arguments: %j', async (args, message) => {
  const { code, text } = await run(...args)
  expect(code).toBe(2)
  expect(text).toContain(message)
  expect(text).toContain(`usage: gateway guard ${args[0]} claude-code|codex`)
})

describe('the doctor', () => {
  let gateway: TestGateway
  const policy = { enabled: true, mode: 'deny', packs: ['core.git'] }
  const config = (policy: object) => ({
    providers: [{ id: 's', type: 'simulator' }],
    models: [{ id: 'm', routes: [{ provider: 's', upstream_model: 'u' }] }],
    guardrails: { default: policy },
  })
  const reload = async (policy: object) => {
    const database = { url: `literal.${gateway.databaseUrl}` }
    const text = stringify({ ...config(policy), users: [ada], database })
    expect(await gateway.reload({ text, file: 'gateway.yaml' })).toEqual([])
  }

  beforeAll(async () => {
    gateway = await startTestGateway(config(policy))
  })
  afterAll(() => gateway?.stop())
  beforeEach(() => {
    Object.assign(place.env, { GATEWAY_URL: gateway.url, GATEWAY_API_KEY: adaKey })
  })

  test.each(agents.map(({ name }) => name).filter((name) => name !== 'codex'))(
    'proves that the hook of %s allows and blocks',
    async (name) => {
      await run('install', name, '--user')
      const { code, text } = await run('doctor', name)
      expect(text).toContain('ok    a harmless command passes: echo hello')
      expect(text).toContain('ok    a forbidden command is blocked: git reset --hard')
      expect(code).toBe(0)
    },
    20_000,
  )

  test('tells of a hook that Codex does not trust', async () => {
    await run('install', 'codex')
    const { code, text } = await run('doctor', 'codex')
    expect(text).toContain('FAIL  The hook is not trusted')
    expect(text).toContain('open /hooks and trust the hook')
    expect(text).toContain('ok    a forbidden command is blocked')
    expect(code).toBe(1)
    const key = `${fileOf('codex')}:pre_tool_use:0:0`
    mkdirSync(join(place.home, '.codex'))
    const state = `[hooks.state."${key}"]\ntrusted_hash = "sha256:0"\n`
    writeFileSync(join(place.home, '.codex/config.toml'), state)
    expect((await run('doctor', 'codex')).text).toContain('codex is not in PATH')
  }, 20_000)

  /** Checks the doctor's message about a hook of Claude Code that fails. */
  const says = async (what: string, fix: string) => {
    const { code, text } = await run('doctor', 'claude-code')
    expect(text).toContain(what)
    expect(text).toContain(fix)
    expect(text).not.toContain(adaKey)
    expect(code).toBe(1)
  }

  test('says that nothing is installed, and where it looked', async () => {
    await says(
      `the hook is not in ${fileOf('claude-code')} or ${fileOf('claude-code', 'user')}`,
      'gateway guard install claude-code',
    )
  })

  test('says that the program is gone, without which the hook still blocks', async () => {
    await run('install', 'claude-code')
    const { hooks } = JSON.parse(readFileSync(fileOf('claude-code'), 'utf8'))
    const [{ command }] = hooks.PreToolUse[0].hooks
    rmSync(program)
    await says(
      `the program of the hook does not exist: ${program}`,
      'gateway guard install claude-code',
    )
    for (const agent of agents) {
      const what = await runHook(agent, command, 'echo hello', place)
      expect(what).toEqual({ kind: 'denied', reason: expect.stringContaining(program) })
    }
  })

  test('says that a hook relies on a PATH on which its program is not', async () => {
    mkdirSync(dirname(fileOf('claude-code')))
    const hook = { type: 'command', command: 'gateway guard --format claude_code' }
    const settings = { hooks: { PreToolUse: [{ matcher: '*', hooks: [hook] }] } }
    writeFileSync(fileOf('claude-code'), JSON.stringify(settings))
    await says(
      'the program of the hook does not exist: gateway.',
      'gateway guard install claude-code',
    )
  })

  test('says that settings are broken, or switch hooks off', async () => {
    await run('install', 'claude-code')
    const file = fileOf('claude-code')
    const settings = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ disableAllHooks: true, ...settings }))
    await says('disableAllHooks disables all hooks', 'Remove it')
    writeFileSync(file, '{ // no\n}')
    await says('not valid JSON', 'Correct it')
  }, 20_000)

  test('says that the key is missing, unknown or revoked, or the gateway away', async () => {
    await run('install', 'claude-code')
    place.env.GATEWAY_API_KEY = ''
    await says('GATEWAY_API_KEY is not set', 'Set it in the environment of the agent')
    const admin = await adminClient(gateway)
    const made = {
      name: 'hook',
      owner: { kind: 'user', user_id: admin.userId },
      granted_models: ['m'],
    }
    const key = await admin.post<{ api_key_id: string; api_key: string }>(
      '/api/v1/admin/api-keys',
      made,
    )
    place.env.GATEWAY_API_KEY = key.api_key
    expect(await run('doctor', 'claude-code')).toMatchObject({ code: 0 })
    await admin.post(`/api/v1/admin/api-keys/${key.api_key_id}/revoke`)
    await says('refuses the key in GATEWAY_API_KEY (api_key_revoked)', 'a valid API key')
    place.env.GATEWAY_URL = 'http://127.0.0.1:1'
    await says('cannot be reached (ECONNREFUSED)', 'set GATEWAY_URL to its address')
    await run('install', 'claude-code', '--when-away', 'open')
    await says(
      'gets no answer from the gateway: the gateway at http://127.0.0.1:1',
      'set GATEWAY_URL to its',
    )
  }, 30_000)

  test('says that no policy guards, that one only records, or has no pack for this', async () => {
    await run('install', 'claude-code')
    try {
      await reload({ ...policy, enabled: false })
      await says('no policy applies to this key', 'Enable guardrails.default in the gateway config')
      await reload({ ...policy, mode: 'audit' })
      await says(
        'the policy only records',
        'Set guardrails.default.mode to deny in the gateway config',
      )
      await reload({ ...policy, packs: ['saas.notes'] })
      await says('the policy has no pack for them', 'Add packs such as core.git')
    } finally {
      await reload(policy)
    }
  }, 40_000)

  test('is a command of the gateway, as are the others', async () => {
    const gatewayCommand = async (...args: string[]) =>
      await ended(
        Bun.spawn([process.execPath, MAIN, ...args], { ...place, stdout: 'pipe', stderr: 'pipe' }),
      )
    const installed = await gatewayCommand('guard', 'install', 'claude-code')
    expect(installed.out).toContain(`${MAIN} guard --format claude_code || exit 2`)
    expect(await gatewayCommand('guard', 'doctor', 'claude-code')).toMatchObject({
      code: 0,
      err: '',
    })
    expect((await gatewayCommand('help')).out).toContain('gateway guard doctor claude-code|codex')
  }, 30_000)
})
