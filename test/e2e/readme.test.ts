import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { blocksOf } from '../harness/docs-page.ts'
import { adaKey, startTestGateway } from '../harness/gateway.ts'

const ROOT = join(import.meta.dir, '../..')
const [quickstart, commands, development] = blocks('sh')

function blocks(language: string): string[] {
  return blocksOf('README.md')
    .filter((block) => block.language === language)
    .map(({ text }) => text)
}

let folder: string
let database: TestDatabase
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-readme-'))
  // As root, Postgres runs under another account, which has to pass through.
  chmodSync(folder, 0o711)
  database = await createTestDatabase()
})
afterAll(async () => {
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs lines of README.md where they are to be run, with the Bun of this test. */
function run(lines: string, env: Readonly<Record<string, string>>) {
  const npx = `npx() { shift 2; "${process.execPath}" "$@"; }\n`
  return Bun.spawn(['bash', '-euc', npx + lines], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
    // A process group, so that what a command started can be ended with it.
    detached: true,
  })
}

test('the quick start starts a gateway that prints a key', async () => {
  const [install, start, ...more] = (quickstart as string).trim().split('\n')
  // The first line has been run, or this test would not.
  expect(install).toBe('npx --yes bun@1.4.5 install')
  expect(more).toEqual([])
  const child = run(start as string, {
    GATEWAY_BIND: '127.0.0.1:0',
    GATEWAY_DATA_DIR: join(folder, 'data'),
  })
  let out = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    out += decoder.decode(chunk)
    if (/^curl .*\n.*^curl /ms.test(out)) break
  }
  const line = out.split('\n').find((text) => text.startsWith('curl ')) as string
  const reply = await new Response(
    Bun.spawn(['sh', '-c', line], { stderr: 'ignore' }).stdout,
  ).json()
  expect(reply.choices[0].message.content).toBeString()
  process.kill(-child.pid, 'SIGTERM')
  await child.exited
}, 60_000)

test('the config is valid, and the commands work with it', async () => {
  const file = join(folder, 'gateway.yaml')
  writeFileSync(file, blocks('yaml')[0] as string)
  const child = run(commands as string, {
    GATEWAY_CONFIG: file,
    DATABASE_URL: database.url,
    OPENAI_API_KEY: 'sk-1',
  })
  expect(await new Response(child.stderr).text()).not.toContain('error:')
  const out = await new Response(child.stdout).text()
  expect(await child.exited).toBe(0)
  expect(out).toContain('is valid')
  expect(out).toMatch(/gwk_[a-z2-7]{16}\./)
}, 60_000)

test('official clients work as printed, and the queries find what they did', async () => {
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
    const statements = (blocks('sql')[0] as string).split(';').filter((text) => text.trim() !== '')
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
    const [, command = '', script] =
      /^(?:\w+=\w+ )?npx --yes bun@1\.4\.5 (install|run ([\w:]+))/.exec(line) ?? []
    if (script !== undefined) expect(scripts).toHaveProperty(script)
    if (script !== 'bench') expect(guard).toContain(command === 'install' ? command : `${script}`)
  }
})
