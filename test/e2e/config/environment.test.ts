import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { builtins, providedBy } from '../../../plugins/standard/builtins.ts'
import type { Invocation } from '../../../plugins/standard/cli.ts'
import { checkConfigCommand } from '../../../plugins/standard/commands.ts'
import { readEnvironment } from '../../../plugins/standard/environment.ts'
import { initCommand } from '../../../plugins/standard/init.ts'
import { createTestDatabase } from '../../harness/database.ts'
import { type StartedGateway, startFromEnvironment } from '../../harness/from-environment.ts'
import { freePort } from '../../harness/process.ts'
import { type Clouds, cloudKey, startClouds } from '../../harness/upstream-clouds.ts'

const WRONG = 'gsk-wrong-key-canary'
/** Repeats the key, as vendors do. */
const refusing = Bun.serve({
  port: 0,
  fetch: () =>
    Response.json({ error: { message: `Incorrect API key: ${WRONG}` } }, { status: 401 }),
})

let clouds: Clouds
let env: Record<string, string>
let folder: string
beforeAll(async () => {
  clouds = await startClouds()
  env = {
    OPENAI_API_KEY: cloudKey,
    ANTHROPIC_API_KEY: cloudKey,
    GATEWAY_OPENAI_BASE_URL: clouds.url,
    GATEWAY_ANTHROPIC_BASE_URL: new URL(clouds.url).origin,
  }
  folder = mkdtempSync(join(tmpdir(), 'gateway-init-'))
})
afterAll(async () => {
  await clouds?.stop()
  await refusing.stop(true)
  rmSync(folder, { recursive: true, force: true })
})

describe('a start in an empty folder', () => {
  let gateway: StartedGateway
  beforeAll(async () => {
    gateway = await startFromEnvironment({
      ...env,
      MISTRAL_API_KEY: '',
      GROQ_API_KEY: WRONG,
      GATEWAY_GROQ_BASE_URL: refusing.url.href,
      // There is no network.
      XAI_API_KEY: 'x',
      GATEWAY_XAI_BASE_URL: `http://127.0.0.1:${freePort()}`,
      // Agents are pointed at the gateway by it.
      OPENAI_BASE_URL: 'http://127.0.0.1:9',
    })
  }, 40_000)
  afterAll(() => gateway?.stop())

  test('tells of each variable in a line', async () => {
    const lines = gateway.out().split('\n')
    expect(lines).toContain(
      'found OPENAI_API_KEY: serving openai/*, such as openai/gpt-6-luna; prices known',
    )
    expect(lines.filter((line) => line.startsWith('found'))).toHaveLength(4)
    expect(lines).toContain('MISTRAL_API_KEY is empty: skipped')
  })

  test('tells what vendors say of their keys, and nothing of one that is away', async () => {
    await gateway.printed(/^OPENAI_API_KEY: OpenAI lists 2 models$/m)
    await gateway.printed(/^ANTHROPIC_API_KEY: Anthropic lists 2 models$/m)
    await gateway.printed(/^GROQ_API_KEY: Groq answered 401: Incorrect API key: \S+ \(https:/m)
    expect(gateway.out()).not.toContain(WRONG)
    expect(gateway.out()).not.toMatch(/^XAI_API_KEY/m)
    expect(gateway.log()).not.toMatch(/"level":[456]0/)
  })

  test('serves official clients, with prices', async () => {
    const { url, key: apiKey, sql } = gateway
    const messages = [{ role: 'user' as const, content: 'hi' }]
    const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey })
    const model = 'openai/gpt-5-mini'
    const chat = await openai.chat.completions.create({ model, messages })
    expect(chat).toMatchObject({ model, choices: [{ message: { role: 'assistant' } }] })
    let said = ''
    const chunks = await openai.chat.completions.create({ model, messages, stream: true })
    for await (const { choices } of chunks) said += choices[0]?.delta.content ?? ''
    expect(said).toBe(chat.choices[0]?.message.content as string)
    const anthropic = new Anthropic({ baseURL: url, apiKey })
    const message = await anthropic.messages.create({
      model: 'anthropic/claude-haiku-4-5',
      max_tokens: 50,
      messages,
    })
    expect(message.content[0]).toMatchObject({ type: 'text', text: said })
    const rows = await sql`
      select distinct upstream_model, pricing_status from accounting.usage_cost_events order by 1`
    expect([...rows]).toEqual([
      { upstream_model: 'claude-haiku-4-5', pricing_status: 'priced' },
      { upstream_model: 'gpt-5-mini', pricing_status: 'priced' },
    ])
  })

  test('goes on at a SIGHUP, which has no file to read', async () => {
    gateway.signal('SIGHUP')
    while (!gateway.log().includes('generated from the environment')) await Bun.sleep(10)
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  })
})

/** Runs a command in this process; resolves to its exit code and the lines that it printed. */
async function run(
  command: (invocation: Invocation) => Promise<number>,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = env,
) {
  const lines: string[] = []
  const code = await command({
    args,
    configFile: join(folder, 'gateway.yaml'),
    dataDir: join(folder, 'data'),
    env: variables,
    out: (line) => lines.push(line),
    builtins,
    providedBy,
    async startDatabase() {
      const { url, drop } = await createTestDatabase()
      return { url, stop: drop }
    },
  })
  return { code, out: lines.join('\n') }
}

test('gateway init writes a file that is valid, and none over another', async () => {
  const { code, out } = await run(initCommand, [])
  expect([code, out]).toEqual([0, expect.stringContaining('found ANTHROPIC_API_KEY')])
  const file = join(folder, 'gateway.yaml')
  const text = readFileSync(file, 'utf8')
  expect(text).toContain('api_key: env.OPENAI_API_KEY')
  expect(text).not.toContain(cloudKey)
  expect((await run(initCommand, ['--print'])).out).toBe(text.trimEnd())
  expect(await run(checkConfigCommand, [])).toMatchObject({ code: 0 })
  expect(run(initCommand, [])).rejects.toThrow(`${file} already exists: --force overwrites it`)
  expect(await run(initCommand, ['--force'], {})).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).not.toContain('OPENAI')
  // With what is commented out in it.
  await run(initCommand, ['--force'])
  const switchedOn = readFileSync(file, 'utf8').replaceAll(/^( *)#(?=\S)/gm, '$1')
  expect(switchedOn).toContain('- { id: fast, alias_of: anthropic/claude-haiku-4-5 }')
  await Bun.write(file, switchedOn)
  expect(await run(checkConfigCommand, [])).toMatchObject({ code: 0 })
})

test.each([
  ['an empty key', { OPENAI_API_KEY: ' ' }, [], ['OPENAI_API_KEY is empty: skipped']],
  [
    'a key with a line break',
    { OPENAI_API_KEY: 'sk-1\n' },
    [],
    ['OPENAI_API_KEY contains a space or another character that keys cannot have: skipped'],
  ],
  ['a server without a key', { GATEWAY_OLLAMA_BASE_URL: 'http://127.0.0.1:1/v1' }, ['ollama'], []],
  [
    'a key whose vendor needs an address, too',
    { AZURE_OPENAI_API_KEY: 'a' },
    [],
    ['AZURE_OPENAI_API_KEY is set, but Azure OpenAI also needs AZURE_OPENAI_ENDPOINT: skipped'],
  ],
  ['nothing', {}, [], []],
])('the environment with %s', (_, variables, types, skipped) => {
  const environment = readEnvironment(variables as Record<string, string>)
  expect(environment.found.map(({ vendor }) => vendor.type)).toEqual(types)
  expect(environment.skipped).toEqual(skipped)
})

test('an address that is not a URL is refused by name', () => {
  expect(() => readEnvironment({ GATEWAY_OPENAI_BASE_URL: 'htps://x' })).toThrow(
    'GATEWAY_OPENAI_BASE_URL must be a URL such as https://api.example.com/v1, got "htps://x"',
  )
})
