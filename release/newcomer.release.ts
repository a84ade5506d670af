/**
 * The guide for authors of plugins, in an empty folder, with the packed tarball and the compiled
 * program. A plugin of each kind is created, tested, loaded and called.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adminClient } from '../test/harness/admin.ts'
import { runPage } from '../test/harness/docs-page.ts'
import { ended } from '../test/harness/ended.ts'
import { adaKey } from '../test/harness/gateway.ts'
import { packProject } from '../test/harness/strangers.ts'
import { build } from './build.ts'

const NAME = 'first-try'

let home: string
let program: string
let tarball: string
let path: string

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'gateway-newcomer-'))
  // As root, Postgres runs under another account, which needs to enter this folder.
  chmodSync(home, 0o711)
  program = (await build(join(home, 'release'), () => {})).gateway
  tarball = await packProject(home)
  mkdirSync(join(home, 'bin'))
  symlinkSync(process.execPath, join(home, 'bin/bun'))
  path = `${join(home, 'bin')}:/usr/bin:/bin`
}, 120_000)

afterAll(() => rmSync(home, { recursive: true, force: true }), 120_000)

function spawn(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
) {
  const all = { PATH: path, HOME: process.env.HOME ?? home, ...env }
  return Bun.spawn([...command], { cwd, env: all, stdout: 'pipe', stderr: 'pipe' })
}

/** Runs a command and returns its output. Throws an Error with the output when it fails. */
async function run(command: string, cwd: string): Promise<string> {
  const child = spawn(command.split(' '), cwd)
  const { out, err, code } = await ended(child)
  if (code !== 0) throw new Error(`${command}\n${out}\n${err}`.slice(-4000))
  return out
}

/** Resolves with the first match in the output of a process. Reading continues after the match. */
function printed(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    void (async () => {
      let text = ''
      for await (const chunk of stream) {
        text += new TextDecoder().decode(chunk)
        const [, found] = pattern.exec(text) ?? []
        if (found !== undefined) resolve(found)
      }
      reject(new Error(`the process ended without printing ${pattern}: ${text}`))
    })()
  })
}

interface Loaded {
  readonly url: string
  readonly data: string
  post(path: string, body: unknown): Promise<Response>
}

const say = (content: string) => [{ role: 'user', content }]
const chat = (model: string, content: string, more: object = {}) =>
  ['/v1/chat/completions', { model, messages: say(content), ...more }] as const

/** Calls a loaded plugin, by its kind. */
const requests: Readonly<Record<string, (gateway: Loaded) => Promise<void>>> = {
  async provider({ post }) {
    const reply = await post(...chat(NAME, 'hello'))
    expect(await reply.text()).toContain('You said: hello')
    const streamed = await post(...chat(NAME, 'hello', { stream: true }))
    expect(await streamed.text()).toEndWith('data: [DONE]\n\n')
  },
  async pack({ post }) {
    const parameters = { type: 'object', properties: {} }
    const ask = (name: string) => {
      const tools = [{ type: 'function', function: { name, parameters } }]
      return post(...chat('demo', 'use the tool', { tools, tool_choice: 'required' }))
    }
    expect((await ask('first_try.archive_project')).status).toBe(200)
    const denied = await ask('first_try.delete_project')
    expect(denied.status).toBe(403)
    expect(await denied.text()).toContain('custom.deletes_project')
  },
  async 'managed-check'({ post }) {
    expect((await post(...chat('demo', 'hello'))).status).toBe(200)
    const denied = await post(...chat('demo', 'forbidden'))
    expect(denied.status).toBe(403)
    expect(await denied.text()).toContain('guardrail_denied')
  },
  async 'mcp-auth-mode'({ url }) {
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'whoami', arguments: {} },
    }
    const reply = await fetch(`${url}/mcp/${NAME}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${adaKey}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify(call),
    })
    expect(await reply.text()).toContain('called by ada')
  },
  async 'accounting-sink'({ post, data }) {
    expect((await post(...chat('demo', 'hello'))).status).toBe(200)
    const lines = new Bun.Glob('**/calls.jsonl')
    const written = () =>
      [...lines.scanSync({ cwd: data })].map((file) => readFileSync(join(data, file), 'utf8'))
    while (written().length === 0) await Bun.sleep(50)
    expect(JSON.parse(written()[0] as string)).toMatchObject({
      model: 'demo',
      provider: 'simulator',
    })
  },
  async admin({ url, data }) {
    const databaseUrl = readFileSync(join(data, 'database-url'), 'utf8').trim()
    const admin = await adminClient({ url, databaseUrl })
    await admin.post(`/api/v1/admin/${NAME}/notes`, { text: 'remember' })
    expect(JSON.stringify(await admin.get(`/api/v1/admin/${NAME}/notes`))).toContain('remember')
  },
  async middleware({ post }) {
    const reply = await post(...chat('demo', 'hello', { max_completion_tokens: 900 }))
    expect(reply.headers.get(`x-${NAME}-capped`)).toBe('50')
  },
  async surface({ post }) {
    const reply = await post(`/v1/${NAME}`, { model: 'demo', prompt: 'hello' })
    expect(reply.status).toBe(200)
    expect(Object.keys((await reply.json()) as object)).toEqual(['id', 'model', 'text', 'tokens'])
  },
}

/** Runs the commands of the guide up to the tests, and returns the folder of the plugin. */
async function writePlugin(kind: string): Promise<string> {
  const cwd = join(home, kind)
  mkdirSync(cwd)
  await run(`${program} plugin new ${kind} ${NAME} --gateway ${tarball}`, cwd)
  const folder = join(cwd, NAME)
  await run('bun install', folder)
  await run('bun test', folder)
  await run('bun x tsc', folder)
  return folder
}

/** Starts the gateway with the example config of a plugin, and its stand-in if it has one. */
async function load(folder: string) {
  const file = join(folder, 'gateway.example.yaml')
  const started: { kill(): void; readonly exited: Promise<number> }[] = []
  let example = readFileSync(file, 'utf8')
  if (existsSync(join(folder, 'stand-in.ts'))) {
    const standIn = spawn(['bun', 'stand-in.ts'], folder, { PORT: '0' })
    started.push(standIn)
    const port = await printed(standIn.stdout, /:(\d+)\//)
    example = example.replaceAll('4011', port)
    writeFileSync(file, example)
  }
  const data = join(home, 'data')
  const gateway = spawn([program, 'serve', '--config', file, '--data-dir', data], folder, {
    GATEWAY_BIND: '127.0.0.1:0',
    GATEWAY_KEY: adaKey,
    GATEWAY_MCP_SECRET_FIRST_TRY: 'try-me',
  })
  started.push(gateway)
  const url = await printed(gateway.stderr, /"url":"([^"]+)"/)
  const loaded: Loaded = {
    url,
    data,
    post: (at, body) =>
      fetch(url + at, {
        method: 'POST',
        headers: { authorization: `Bearer ${adaKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  }
  return {
    loaded,
    async end() {
      for (const process of started) {
        process.kill()
        await process.exited
      }
    },
  }
}

test('the commands of docs/tutorials/first-plugin.md work as they are written', async () => {
  const folder = join(home, 'guide')
  mkdirSync(folder)
  chmodSync(folder, 0o711)
  const BIND = `127.0.0.1:${20_000 + Math.floor(Math.random() * 10_000)}`
  const settings = { GATEWAY: program, PACKAGE: tarball, BIND }
  const { out } = await runPage('tutorials/first-plugin.md', settings, folder)
  expect(out).toContain('x-token-cap-capped: 50')
  expect(out).toContain('x-gateway-service is missing: name your service')
}, 180_000)

test.each(Object.keys(requests))(
  'a new %s passes its tests, is loaded and works',
  async (kind) => {
    const { loaded, end } = await load(await writePlugin(kind))
    try {
      await requests[kind]?.(loaded)
    } finally {
      await end()
    }
  },
  120_000,
)
