import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts'
import { blocksOf } from '../../harness/docs-page.ts'
import { ended } from '../../harness/ended.ts'
import { adaKey, startTestGateway } from '../../harness/gateway.ts'
import { startUpstream } from '../../harness/upstream.ts'

const ROOT = join(import.meta.dir, '../../..')
const [quickstart, call, commands, development] = blocks('sh')

function blocks(language: string, page = 'README.md'): string[] {
  return blocksOf(page)
    .filter((block) => block.language === language)
    .map(({ text }) => text)
}

let folder: string
let database: TestDatabase
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-readme-'))
  // As root, Postgres runs under another account, which has to pass through.
  chmodSync(folder, 0o711)
  mkdirSync(join(folder, 'bin'))
  symlinkSync(process.execPath, join(folder, 'bin/bun'))
  database = await createTestDatabase()
})
afterAll(async () => {
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs lines of README.md in the root of the repository, with the Bun of this test. */
function run(lines: string, env: Readonly<Record<string, string>>) {
  return Bun.spawn(['bash', '-euc', lines], {
    cwd: ROOT,
    env: { ...process.env, ...env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` },
    stdout: 'pipe',
    stderr: 'pipe',
    // A process group, so that what a command started can be ended with it.
    detached: true,
  })
}

test('the quick start serves the demo, and the vendor whose key is set', async () => {
  const vendor = await startUpstream()
  const child = run(quickstart as string, {
    GATEWAY_BIND: '127.0.0.1:0',
    GATEWAY_DATA_DIR: join(folder, 'data'),
    OPENAI_API_KEY: 'sk-1',
    GATEWAY_OPENAI_BASE_URL: vendor.url,
  })
  try {
    let out = ''
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      out += decoder.decode(chunk)
      if (/^Console/m.test(out)) break
    }
    expect(out).toContain('found OPENAI_API_KEY: serving openai/*')
    const [, key = ''] = /^API key +(gwk_\S+)$/m.exec(out) ?? []
    const [, url = ''] = /^Console +(\S+)\/console$/m.exec(out) ?? []
    const printed = out.split('\n').find((line) => line.startsWith('curl ')) as string
    const documented = (call as string).replace('http://127.0.0.1:8080', url).replace('gwk_…', key)
    const toVendor = documented.replace('"demo"', '"openai/gpt-6-luna"')
    for (const line of [printed, documented, toVendor]) {
      const { stdout } = Bun.spawn(['sh', '-c', line], { stderr: 'ignore' })
      const reply = await new Response(stdout).json()
      expect(reply).toMatchObject({ choices: [{ message: { content: expect.any(String) } }] })
    }
    expect(vendor.journal.calls.at(-1)?.body).toMatchObject({ model: 'gpt-6-luna' })
  } finally {
    process.kill(-child.pid, 'SIGTERM')
    await child.exited
    await vendor.stop()
  }
}, 60_000)

test('the commands write a config that is valid, and work with it', async () => {
  const child = run(commands as string, {
    GATEWAY_CONFIG: join(folder, 'gateway.yaml'),
    DATABASE_URL: database.url,
    OPENAI_API_KEY: 'sk-1',
  })
  const { out, err, code } = await ended(child)
  expect([code, err]).toEqual([0, expect.not.stringContaining('error:')])
  expect(out).toContain('is valid')
  expect(out).toMatch(/gwk_[a-z2-7]{16}\./)
}, 60_000)

test('official clients work as printed, and the queries of docs/operations.md find their calls', async () => {
  const gateway = await startTestGateway({
    providers: [{ id: 's', type: 'simulator' }],
    models: [{ id: 'm', routes: [{ provider: 's', upstream_model: 'u' }] }],
  })
  const file = new URL(`readme-${process.pid}.tmp.ts`, import.meta.url).pathname
  const program = `import OpenAI from 'openai'
import Anthropic from '@anthropic-ai/sdk'
${blocks('ts')[0]}
const messages = [{ role: 'user' as const, content: 'hi' }]
await openai.chat.completions.create({ model: 'm', messages })
await anthropic.messages.create({ model: 'm', max_tokens: 100, messages })
`
  writeFileSync(
    file,
    program.replaceAll('http://127.0.0.1:8080', gateway.url).replaceAll('gwk_…', adaKey),
  )
  try {
    const child = Bun.spawn([process.execPath, file], { stderr: 'inherit' })
    expect(await child.exited).toBe(0)
    const [queries = ''] = blocks('sql', 'docs/operations.md')
    const statements = queries.split(';').filter((text) => text.trim() !== '')
    expect(statements).toHaveLength(2)
    for (const statement of statements) {
      const found = async () => (await gateway.sql.unsafe(statement)).length
      while ((await found()) < 2) await Bun.sleep(50)
    }
  } finally {
    rmSync(file)
    await gateway.stop()
  }
}, 60_000)

test('the commands for developers are those that guard every change', () => {
  const guard = readFileSync(join(ROOT, '.ci/run'), 'utf8')
  const scripts = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts
  for (const line of (development as string).trim().split('\n')) {
    const [, , script = 'test'] = /^(?:\w+=\w+ )?npm (test|run ([\w:]+))/.exec(line) ?? []
    expect(scripts).toHaveProperty(script)
    if (script !== 'bench') expect(guard).toMatch(new RegExp(`(?:step|tests) ${script}\\b`))
  }
})
