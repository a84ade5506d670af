import { afterAll, describe, expect, test } from 'bun:test'
import { ended } from '../../test/harness/ended.ts'
import { localPacks } from '../standard/local-packs.ts'
import { hookCases } from './__fixtures__/hooks.ts'
import { type GuardCommandParts, runGuardCommand } from './guard-command.ts'

const MAIN = new URL('../standard/main.ts', import.meta.url).pathname
const NOWHERE = { GATEWAY_URL: 'http://127.0.0.1:1', GATEWAY_API_KEY: 'k' }

/** The output for this standard input. */
async function guard(
  args: readonly string[],
  input: string | object,
  env: Record<string, string> = NOWHERE,
  packs: GuardCommandParts['packs'] = async () => localPacks,
) {
  const printed: string[] = []
  const told: string[] = []
  const code = await runGuardCommand({
    args,
    env,
    input: async () => (typeof input === 'string' ? input : JSON.stringify(input)),
    out: (text) => void printed.push(text),
    tell: (line) => void told.push(line),
    packs,
  })
  return { code, printed: printed.join('\n'), told: told.join('\n') }
}

const danger = 'sudo rm -rf --no-preserve-root /'
const harmless = 'ls -la'

describe.each(hookCases.map((each) => [each.format, each] as const))(
  '%s, with the gateway away',
  (format, agent) => {
    const run = (command: string, ...more: string[]) =>
      guard(['--format', format, ...more], agent.shell(command))

    test('closed unless told otherwise: nothing passes, and the packs say why', async () => {
      const denied = await run(danger)
      expect(denied.code).toBe(0)
      expect(agent.reasonOf(JSON.parse(denied.printed))).toContain('core.filesystem')
      expect(denied.printed).not.toContain('no-preserve-root')
      const other = await run(harmless)
      expect(agent.reasonOf(JSON.parse(other.printed))).toContain('the gateway cannot be asked')
      expect(other.told).toContain('ECONNREFUSED')
    })

    test('open: what the packs do not deny passes', async () => {
      const denied = await run(danger, '--when-away', 'open')
      expect(agent.reasonOf(JSON.parse(denied.printed))).toContain('core.filesystem')
      const sql = await run('psql -c "drop table users"', '--when-away=open')
      expect(agent.reasonOf(JSON.parse(sql.printed))).toContain('database.sql')
      const allowed = await run(harmless, '--when-away', 'open')
      expect(allowed).toMatchObject({ code: 0, printed: agent.allowed })
    })

    test('in audit mode everything passes', async () => {
      const allowed = await run(danger, '--mode', 'audit')
      expect(allowed).toMatchObject({ code: 0, printed: agent.allowed })
    })

    test('a tool of an MCP server is judged too', async () => {
      const hook = agent.mcp('notion', 'archive_page', { page_id: '1' })
      const denied = await guard(['--format', format, '--when-away', 'open'], hook)
      expect(agent.reasonOf(JSON.parse(denied.printed))).toContain('saas.notes')
    })
  },
)

test.each(hookCases.map((each) => [each.format, each] as const))(
  'agent and person read why %s cannot ask, and what mends it',
  async (format, agent) => {
    const asking = (env: Record<string, string>) =>
      guard(['--format', format], agent.shell(harmless), env)
    for (const [env, why, fix] of [
      [{}, 'GATEWAY_API_KEY is not set', 'an API key of the gateway at http://127.0.0.1:8080'],
      [NOWHERE, 'the gateway at http://127.0.0.1:1 cannot be reached', 'set GATEWAY_URL to'],
      [{ ...NOWHERE, GATEWAY_URL: 'nowhere' }, 'GATEWAY_URL is not a URL', 'https://host:8080'],
    ] as const) {
      const { code, printed, told } = await asking(env)
      expect(code).toBe(0)
      const reason = agent.reasonOf(JSON.parse(printed))
      for (const words of [why, fix]) {
        expect(reason).toContain(words)
        expect(told).toContain(words)
      }
      // Copilot CLI shows the user only the reason of a hook.
      const shown = format === 'copilot_cli' ? reason : JSON.parse(printed).systemMessage
      expect(shown).toContain(why)
    }
  },
)

test('unreadable calls follow --when-away; malformed arguments are denied', async () => {
  const run = (input: string | object, ...more: string[]) =>
    guard(['--format', 'claude_code', ...more], input)
  for (const input of ['', 'not json', '[]', '{"tool_name":7}']) {
    expect((await run(input)).printed).toContain('"deny"')
    expect((await run(input, '--when-away', 'open')).printed).toBe('')
  }
  const malformed = { tool_name: 'Bash', tool_input: 'rm -rf /' }
  expect((await run(malformed, '--when-away', 'open')).printed).toContain('malformed')
})

test('packs that cannot be loaded or that throw deny', async () => {
  const run = (packs: GuardCommandParts['packs']) =>
    guard(
      ['--format', 'codex', '--when-away', 'open'],
      hookCases[1]?.shell('ls') ?? '',
      NOWHERE,
      packs,
    )
  const broken = await run(() => Promise.reject(new Error('no such file')))
  expect(broken.printed).toContain('cannot be judged')
})

test.each([
  [[], '--format must be one of claude_code, codex, gemini_cli, copilot_cli'],
  [['--format', 'vim'], '--format must be one of'],
  [['--format', 'codex', '--when-away', 'ajar'], '--when-away must be one of closed, open'],
  [['--format', 'codex', '--timeout-ms', '0'], '--timeout-ms must be a number'],
  [['--format', 'codex', '--fast'], "Unknown option '--fast'"],
])('wrong arguments %j end with 2, which agents take for a denial', async (args, message) => {
  const { code, printed, told } = await guard(args, '{}')
  expect(code).toBe(2)
  expect(printed).toBe('')
  expect(told).toContain(message)
})

describe('the server at GATEWAY_URL', () => {
  const replies = new Map<string, () => Response | Promise<Response>>([
    ['/deny', () => Response.json({ decision: 'deny', reason: 'as the gateway says' })],
    ['/allow', () => Response.json({})],
    ['/nothing', () => new Response('', { headers: { 'content-type': 'application/json' } })],
    ['/page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['/text', () => new Response('fine', { headers: { 'content-type': 'application/json' } })],
    ['/health', () => Response.json({ status: 'ok', allowed: true })],
    ['/401', () => Response.json({ error: {} }, { status: 401 })],
    ['/revoked', () => Response.json({ error: { code: 'api_key_revoked' } }, { status: 401 })],
    ['/413', () => Response.json({ error: {} }, { status: 413 })],
    ['/moved', () => Response.redirect('/allow')],
    ['/late', () => Bun.sleep(5_000).then(() => Response.json({}))],
  ])
  const asked: { url: string; key: string | null; body: unknown }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const key = request.headers.get('authorization')
      asked.push({ url: request.url, key, body: await request.json() })
      const reply = replies.get(pathname.replace('/api/v1/guardrails/evaluate', ''))
      return reply?.() ?? new Response(null, { status: 404 })
    },
  })
  afterAll(() => server.stop(true))
  const hook = hookCases[2]?.shell(harmless) ?? {}
  const ask = (path: string, ...more: string[]) =>
    guard(['--format', 'gemini_cli', ...more], hook, {
      GATEWAY_URL: `${server.url.origin}${path}`,
      GATEWAY_API_KEY: 'gwk_x',
    })

  test('the gateway is asked with the hook as it is, and its answer printed', async () => {
    const { printed, told } = await ask('/deny')
    expect(JSON.parse(printed)).toEqual({ decision: 'deny', reason: 'as the gateway says' })
    expect(told).toBe('')
    expect(asked).toEqual([
      {
        url: `${server.url.origin}/deny/api/v1/guardrails/evaluate?format=gemini_cli`,
        key: 'Bearer gwk_x',
        body: hook,
      },
    ])
    expect((await ask('/allow')).printed).toBe('{}')
    expect((await ask('/nothing')).printed).toBe('')
  })

  test('a key that is refused is named by its variable, with the reason', async () => {
    const { printed, told } = await ask('/revoked')
    for (const text of [printed, told]) {
      expect(text).toContain('refuses the key in GATEWAY_API_KEY (api_key_revoked)')
      expect(text).not.toContain('gwk_x')
    }
    expect((await ask('/401')).told).toContain('(status 401)')
  })

  test.each(['/page', '/text', '/health', '/401', '/413', '/moved', '/gone'])(
    '%s is not an answer of a gateway: denied, or allowed with --when-away open',
    async (path) => {
      expect((await ask(path)).printed).toContain('deny')
      expect((await ask(path, '--when-away', 'open')).printed).toBe('{}')
    },
  )

  test('an object with nothing in it lets Gemini go on, and no other agent', async () => {
    const env = { GATEWAY_URL: `${server.url.origin}/allow`, GATEWAY_API_KEY: 'gwk_x' }
    for (const { format, shell, allowed } of hookCases) {
      const { printed } = await guard(['--format', format], shell(harmless), env)
      if (allowed === '{}') expect(printed).toBe('{}')
      else expect(printed).toContain('deny')
    }
  })

  test('a gateway that is slow is away', async () => {
    const start = performance.now()
    const { printed, told } = await ask('/late', '--timeout-ms', '50')
    expect(printed).toContain('deny')
    expect(told).toContain('did not answer within 50 ms')
    expect(performance.now() - start).toBeLessThan(2_000)
  })
})

test('from its start to its answer it takes little, with the gateway there and away', async () => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.json({ decision: 'deny', reason: 'no' }),
  })
  /** Processor time in milliseconds, the minimum of some runs, because the machine is shared. */
  const least = async (url: string) => {
    const times: number[] = []
    for (let i = 0; i < 5; i += 1) {
      const child = Bun.spawn([process.execPath, MAIN, 'guard', '--format', 'gemini_cli'], {
        env: { ...process.env, GATEWAY_URL: url, GATEWAY_API_KEY: 'k' },
        stdin: new Blob([JSON.stringify(hookCases[2]?.shell(danger))]),
        stdout: 'pipe',
        stderr: 'ignore',
      })
      expect(await new Response(child.stdout).json()).toMatchObject({ decision: 'deny' })
      expect(await child.exited).toBe(0)
      times.push((child.resourceUsage()?.cpuTime.total ?? 0n) as unknown as number)
    }
    return Math.min(...times.map(Number)) / 1_000
  }
  const there = await least(server.url.origin)
  const away = await least(NOWHERE.GATEWAY_URL)
  server.stop(true)
  console.log(`gateway guard: ${there.toFixed(0)} ms, away ${away.toFixed(0)} ms`)
  // 40 ms and 75 ms on an idle processor; more than twice as much on a shared one.
  expect(there).toBeLessThan(300)
  expect(away).toBeLessThan(300)
}, 30_000)

test('behind other words of the line it says where it belongs; the help lists it', async () => {
  const run = async (...args: string[]) => {
    const child = Bun.spawn([process.execPath, MAIN, '--data-dir', '/nowhere', ...args], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    return await ended(child)
  }
  const { err, code } = await run('guard', '--format', 'codex')
  expect(code).toBe(2)
  expect(err).toContain('gateway guard --format')
  expect((await run('help')).out).toContain('gateway guard --format')
}, 30_000)
