import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { builtins, providedBy } from '../../../plugins/standard/builtins.ts'
import { readEnvironment } from '../../../plugins/standard/environment.ts'
import { configOf } from '../../../plugins/standard/environment-config.ts'
import { tryCommand } from '../../../plugins/standard/try.ts'
import { presets } from '../../../providers/generic-compat/presets.ts'
import { createTestDatabase } from '../../harness/database.ts'
import { type Clouds, cloudKey, startClouds } from '../../harness/upstream-clouds.ts'
import { keyOf, startVendors } from './try.fixture.ts'

const WRONG = 'gsk-wrong-key-canary'
const vendors = startVendors()
let clouds: Clouds
let folder: string
let env: Record<string, string>
beforeAll(async () => {
  clouds = await startClouds()
  folder = mkdtempSync(join(tmpdir(), 'gateway-try-'))
  const { origin } = new URL(clouds.url)
  env = {
    ANTHROPIC_API_KEY: cloudKey,
    GATEWAY_ANTHROPIC_BASE_URL: origin,
    GEMINI_API_KEY: cloudKey,
    GATEWAY_GEMINI_BASE_URL: origin,
    AZURE_OPENAI_API_KEY: keyOf('azure_openai'),
    AZURE_OPENAI_ENDPOINT: `${vendors.url}azure_openai`,
    WRONG_KEY: WRONG,
  }
  for (const { type, keys, baseUrl } of presets) {
    env[`GATEWAY_${type.toUpperCase()}_BASE_URL`] = vendors.url + type + new URL(baseUrl).pathname
    const [variable] = keys
    if (variable !== undefined) env[variable] = keyOf(type)
  }
})
afterAll(async () => {
  await clouds?.stop()
  await vendors.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function run(args: readonly string[], text: string) {
  const lines: string[] = []
  const configFile = join(folder, 'gateway.yaml')
  await Bun.write(configFile, text)
  const code = await tryCommand({
    args,
    configFile,
    dataDir: join(folder, 'data'),
    env,
    out: (line) => lines.push(line),
    builtins,
    providedBy,
    async startDatabase() {
      const { url, drop } = await createTestDatabase()
      return { url, stop: drop }
    },
  })
  return { code, lines }
}

/** What a run printed, by provider. */
function sections(lines: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const line of lines) {
    const [, heading] = /^(\w+)(?: \([A-Z\d_]+\))?$/.exec(line) ?? []
    if (heading !== undefined) found.set(heading, [])
    else [...found.values()].at(-1)?.push(line)
  }
  return found
}

/** The calls of each API, as the run calls them, beside those whose name is that of the API. */
const callsOf: Readonly<Record<string, readonly string[]>> = {
  // Messages, Google's API and completions are converted where a vendor does not have them.
  chat_completions: ['chat', 'chat, streamed', 'messages', 'google', 'completions'],
  'images.edits': ['image edits'],
  'audio.speech': ['speech'],
  'audio.transcriptions': ['transcriptions'],
  'audio.translations': ['translations'],
}
const native: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['chat_completions'],
  gemini: ['chat_completions'],
  azure_openai: [
    ...['chat_completions', 'responses', 'embeddings', 'images', 'images.edits'],
    ...['audio.speech', 'audio.transcriptions', 'audio.translations'],
  ],
}

/** What no list names a model for, so that it is only said how to try it. */
const unnamed: Readonly<Record<string, readonly string[]>> = {
  openrouter: ['embeddings'],
  mistral: ['moderations'],
  together: ['rerank', 'speech', 'transcriptions', 'translations', 'images'],
  zai: ['images'],
  nvidia: ['embeddings'],
  cohere: ['transcriptions'],
  jina: ['rerank'],
  sambanova: ['embeddings', 'transcriptions'],
  deepinfra: ['embeddings', 'speech', 'transcriptions', 'translations', 'images', 'image edits'],
  nebius: ['embeddings', 'images'],
  novita: ['embeddings'],
  dashscope: ['embeddings'],
  vercel: ['embeddings'],
  ollama: ['embeddings'],
  vllm: ['embeddings', 'rerank', 'transcriptions', 'translations'],
  lmstudio: ['embeddings'],
  sglang: ['embeddings', 'rerank', 'transcriptions'],
  llama_cpp: ['embeddings', 'rerank'],
}

test('gateway try tries each API of all providers, and goes on behind one that fails', async () => {
  const config = parse(configOf(readEnvironment(env).found))
  const address = env.GATEWAY_GROQ_BASE_URL
  const typo = { id: 'typo', type: 'groq', base_url: address, api_key: 'env.WRONG_KEY' }
  const file = { ...config, providers: [typo, ...config.providers] }
  const { code, lines } = await run(['--images'], stringify(file))

  const found = sections(lines)
  const refused = found.get('typo')
  expect(lines).toContain('typo (WRONG_KEY)')
  expect(refused?.[0]).toMatch(
    /^chat +FAILED +\d+ ms +openai\/gpt-oss-20b: 502 .*Invalid API Key: /,
  )
  expect(refused?.[1]).toMatch(/^ +check the API key of the provider/)
  expect(lines.join()).not.toContain(WRONG)
  expect(code).toBe(1)
  found.delete('typo')

  const claims = new Map(Object.entries(native))
  for (const { type, apis } of presets) claims.set(type, apis)
  expect([...found.keys()].sort()).toEqual([...claims.keys()].sort())
  for (const [type, apis] of claims) {
    const said = found.get(type) ?? []
    const calls = [...new Set(apis.flatMap((api) => callsOf[api] ?? [api]))]
    const left = unnamed[type] ?? []
    const { pricing } = presets.find((each) => each.type === type) ?? { pricing: type }
    const price = pricing === undefined ? 'no price: provider_pricing_source_missing' : '\\$[\\d.]+'
    const answered = calls.filter((call) => !left.includes(call))
    expect(said.filter((line) => !line.startsWith('not tried'))).toEqual(
      expect.arrayContaining(
        answered.map((call) =>
          expect.stringMatching(new RegExp(`^${call} +ok +\\d+ ms +${price} +\\S+: `)),
        ),
      ),
    )
    expect([type, said.filter((line) => line.startsWith('not tried'))]).toEqual([
      type,
      left.length === 0
        ? []
        : [
            `not tried: ${left.join(', ')} (no model for it is known; name one: gateway try ${type}/MODEL)`,
          ],
    ])
    expect(said).toHaveLength(answered.length + Math.min(left.length, 1))
  }
}, 40_000)
