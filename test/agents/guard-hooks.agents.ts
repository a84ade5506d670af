/** Real coding agents with the hook of the guard, before a gateway whose model wants to run a command. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { chatDialect, encodeSse, responsesDialect, type StreamEvent } from 'model-gateway/wire'
import { ended } from '../harness/ended.ts'
import { adaKey, startTestGateway, type TestGateway } from '../harness/gateway.ts'
import { json, type Reply, sse, startUpstream, type Upstream } from '../harness/upstream.ts'
import { installed } from './programs.ts'

const MAIN = new URL('../../plugins/standard/main.ts', import.meta.url).pathname
const claude = await installed('claude')
const codex = await installed('codex')

/** What the model wants to run, as soon as it may. */
let wanted: string
let upstream: Upstream
let gateway: TestGateway
let root: string
let work: string

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.always(runsWhatIsWanted)
  const route = (upstream_model: string) => [
    {
      provider: 'up',
      upstream_model,
      compatibility: { generic_compat: { supports_stream_usage: true } },
    },
  ]
  gateway = await startTestGateway({
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: ['claude-sonnet-4-6', 'gpt-5'].flatMap((id) => [
      { id, routes: route('free') },
      { id: `refusing/${id}`, routes: route('guarded') },
    ]),
    guardrails: {
      default: { enabled: true, mode: 'deny', on_deny: 'refusal', packs: ['core.filesystem'] },
      // The hook is to see the call, not the gateway before it.
      model_routes: {
        'claude-sonnet-4-6/up/free': { enabled: false },
        'gpt-5/up/free': { enabled: false },
      },
    },
  })
  root = realpathSync(mkdtempSync(join(tmpdir(), 'guard-hooks-')))
  work = join(root, 'work')
  for (const folder of [work, join(root, 'home/.codex')]) mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(root, 'home/.codex/config.toml'),
    `model_provider = "gateway"
[model_providers.gateway]
name = "gateway"
base_url = "${gateway.url}/v1"
env_key = "GATEWAY_API_KEY"
wire_api = "responses"
[projects."${work}"]
trust_level = "trusted"
`,
  )
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
  if (root !== undefined) rmSync(root, { recursive: true, force: true })
})

/** Calls the agent's shell once, then says what came of it. */
const runsWhatIsWanted: Reply = (x) => {
  const body = isJsonObject(x.call.body) ? x.call.body : {}
  const overChat = x.call.path.endsWith('/chat/completions')
  const tools = (Array.isArray(body.tools) ? body.tools : []).filter(isJsonObject)
  const offered = tools.map((tool) => (isJsonObject(tool.function) ? tool.function : tool))
  const shell = offered.find(({ name }) => name === 'Bash' || name === 'exec_command')
  const said = JSON.stringify(body.messages ?? body.input)
  const isOver = /"role":"tool"|function_call_output|A guardrail of the gateway/.test(said)
  const args = { [shell?.name === 'Bash' ? 'command' : 'cmd']: wanted, description: 'Works' }
  const call = isOver ? undefined : { name: shell?.name ?? '', arguments: JSON.stringify(args) }
  const [whole, dialect] = overChat
    ? [chatReply(call), chatDialect]
    : [responsesReply(call), responsesDialect]
  if (body.stream !== true) return json(whole)(x)
  const text = ({ raw, data, event }: StreamEvent) => raw ?? encodeSse(data, event)
  return sse(dialect.streaming.tell(whole).map(text))(x)
}

const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 }
type Call = { readonly name: unknown; readonly arguments: string } | undefined

const chatReply = (call: Call): JsonObject =>
  ({
    ...{ id: 'r', object: 'chat.completion', created: 1, model: 'u' },
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: call === undefined ? 'I leave it at that.' : null,
          ...(call && { tool_calls: [{ id: 'c1', type: 'function', function: call }] }),
        },
        finish_reason: call === undefined ? 'stop' : 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
  }) as JsonObject

const responsesReply = (call: Call): JsonObject => {
  const content = [{ type: 'output_text', text: 'I leave it at that.', annotations: [] }]
  const item =
    call === undefined
      ? { type: 'message', role: 'assistant', content }
      : { type: 'function_call', call_id: 'c1', ...call }
  const response = { id: 'r', object: 'response', created_at: 1, model: 'u', status: 'completed' }
  return { ...response, output: [{ id: 'i1', status: 'completed', ...item }], usage } as JsonObject
}

async function run(command: readonly string[]) {
  const child = Bun.spawn([...command], {
    cwd: work,
    env: {
      PATH: [claude, codex, process.env.PATH].join(':'),
      HOME: join(root, 'home'),
      SHELL: '/bin/sh',
      TERM: 'dumb',
      // Whatever wants to leave the machine fails at once.
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1,localhost',
      GATEWAY_URL: gateway.url,
      GATEWAY_API_KEY: adaKey,
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_AUTH_TOKEN: adaKey,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 90_000,
  })
  return await ended(child)
}
const guard = (...words: string[]) => run([process.execPath, MAIN, 'guard', ...words])

const agents = {
  'claude-code': (model: string) =>
    run([
      'claude',
      '-p',
      'Go on.',
      '--model',
      `${model}claude-sonnet-4-6`,
      '--allowedTools',
      'Bash',
    ]),
  codex: (model: string) =>
    run([
      ...['codex', 'exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access'],
      ...['-m', `${model}gpt-5`, 'Go on.'],
    ]),
}

/** Lets the agent work on a folder and a file: what the model heard, and what is there in the end. */
async function works(agent: keyof typeof agents, command: string, model = '') {
  wanted = command
  upstream.clear()
  upstream.always(runsWhatIsWanted)
  mkdirSync(join(work, 'precious'), { recursive: true })
  rmSync(join(work, 'made.txt'), { force: true })
  const result = await agents[agent](model)
  const calls = upstream.journal.calls.filter(({ body }) => isJsonObject(body) && body.tools)
  return {
    ...result,
    calls: calls.length,
    heard: JSON.stringify(calls.at(-1)?.body),
    precious: existsSync(join(work, 'precious')),
    made: existsSync(join(work, 'made.txt')),
  }
}

/** Not `rm`, which Codex refuses by itself. */
const FORBIDDEN = 'find precious -delete'
const HARMLESS = 'touch made.txt'

/** As a person does in `/hooks`: Codex says itself what it would have to trust. */
async function trustInCodex() {
  const server = Bun.spawn(['codex', 'app-server'], {
    cwd: work,
    env: { ...process.env, PATH: `${codex}:${process.env.PATH}`, HOME: join(root, 'home') },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const clientInfo = { name: 'test', title: 'test', version: '1' }
  for (const message of [
    { id: 1, method: 'initialize', params: { clientInfo } },
    { method: 'initialized' },
    { id: 2, method: 'hooks/list', params: { cwds: [work] } },
  ]) {
    server.stdin.write(`${JSON.stringify(message)}\n`)
  }
  await server.stdin.flush()
  let text = ''
  for await (const bytes of server.stdout) {
    text += new TextDecoder().decode(bytes)
    const line = text.split('\n').find((each) => each.startsWith('{"id":2') && each.endsWith('}'))
    if (line === undefined) continue
    const [hook] = JSON.parse(line).result.data[0].hooks
    const config = join(root, 'home/.codex/config.toml')
    const before = await Bun.file(config).text()
    const state = `[hooks.state."${hook.key}"]\ntrusted_hash = "${hook.currentHash}"\n`
    writeFileSync(config, before + state)
    break
  }
  server.kill()
  await server.exited
}

describe.skipIf(claude === undefined)('Claude Code', () => {
  test('without a hook it runs what the model wants', async () => {
    expect(await works('claude-code', FORBIDDEN)).toMatchObject({ precious: false, code: 0 })
  })

  test('with the hook a harmless command runs and a forbidden one does not', async () => {
    await guard('install', 'claude-code')
    expect(await guard('doctor', 'claude-code')).toMatchObject({ code: 0 })
    const forbidden = await works('claude-code', FORBIDDEN)
    expect(forbidden).toMatchObject({ precious: true, code: 0 })
    expect(forbidden.heard).toContain('denied by core.filesystem')
    expect(await works('claude-code', HARMLESS)).toMatchObject({ made: true, code: 0 })
  })

  test('a hook whose program is gone blocks, and the doctor says so', async () => {
    const file = join(work, '.claude/settings.json')
    const before = await Bun.file(file).text()
    writeFileSync(file, before.replace(MAIN, '/nowhere/main.ts'))
    const harmless = await works('claude-code', HARMLESS)
    expect(harmless).toMatchObject({ made: false, code: 0 })
    expect(harmless.heard).toContain('/nowhere/main.ts')
    const { code, out } = await guard('doctor', 'claude-code')
    expect(out).toContain('the program of the hook does not exist: /nowhere/main.ts')
    expect(code).toBe(1)
    await guard('uninstall', 'claude-code')
    expect(existsSync(file)).toBe(false)
  })

  test('a refusal of the gateway tells the model, which goes on', async () => {
    const refused = await works('claude-code', FORBIDDEN, 'refusing/')
    expect(refused).toMatchObject({ precious: true, code: 0, calls: 2 })
    expect(refused.heard).toContain('withheld a tool call of the model')
    expect(refused.out).toContain('I leave it at that.')
  })
})

describe.skipIf(codex === undefined)('Codex', () => {
  test('it runs no hook that is not trusted, which the doctor says', async () => {
    await guard('install', 'codex')
    expect(await works('codex', FORBIDDEN)).toMatchObject({ precious: false, code: 0 })
    const { code, out } = await guard('doctor', 'codex')
    expect(out).toContain('The hook is not trusted, and Codex does not run it')
    expect(code).toBe(1)
  })

  test('with a trusted hook a harmless command runs and a forbidden one does not', async () => {
    await trustInCodex()
    expect(await guard('doctor', 'codex')).toMatchObject({
      code: 0,
      out: expect.stringContaining('Codex trusts it'),
    })
    const forbidden = await works('codex', FORBIDDEN)
    expect(forbidden).toMatchObject({ precious: true, code: 0 })
    expect(forbidden.heard).toContain('denied by core.filesystem')
    expect(await works('codex', HARMLESS)).toMatchObject({ made: true, code: 0 })
  })

  test('a hook that has changed is not trusted any more', async () => {
    await guard('install', 'codex', '--when-away', 'open')
    const { code, out } = await guard('doctor', 'codex')
    expect(out).toContain('The hook has changed since it was trusted')
    expect(code).toBe(1)
    await guard('uninstall', 'codex')
  })

  test('a refusal of the gateway is shown, and not asked for again', async () => {
    const refused = await works('codex', FORBIDDEN, 'refusing/')
    expect(refused).toMatchObject({ precious: true, code: 0, calls: 1 })
    expect(refused.out).toContain('withheld a tool call of the model')
  })
})
