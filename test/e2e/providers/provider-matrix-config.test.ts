/** What `check-config` says of provider blocks: the example's, the guides', and forbidden ones. */
import { afterAll, describe, expect, test } from 'bun:test'
import { stringify } from 'yaml'
import { checkConfig } from '../../../kernel/config/check.ts'
import { parseConfig } from '../../../kernel/config/parse.ts'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { testKey } from '../../harness/gateway.ts'
import { startGoogleCloud } from '../../harness/upstream-clouds-google.ts'

const google = startGoogleCloud()
afterAll(() => google.stop())

const plugins = Object.entries(builtins).map(([name, plugin]) => ({
  plugin,
  use: `builtin:${name}`,
  path: ['plugins'],
  config: undefined,
}))
const secrets = [
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'GEMINI_API_KEY',
  'AZURE_OPENAI_API_KEY',
  'AZURE_OPENAI_TOKEN',
  'AZURE_CLIENT_SECRET',
  'OPENROUTER_API_KEY',
  'GROQ_API_KEY',
  'GPU_API_KEY',
  'VERTEX_TOKEN',
  'CLOUD_RUN_TOKEN',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_BEARER_TOKEN_BEDROCK',
]
const env = {
  ...Object.fromEntries(secrets.map((name) => [name, 'secret'])),
  ADA_GATEWAY_KEY: testKey('ada'),
  REPORT_GATEWAY_KEY: testKey('report'),
}

function check(text: string) {
  const parsed = parseConfig(text)
  return checkConfig(parsed, { plugins, problems: [], complete: true }, env)
}

/** Places of the errors, warnings left out. */
function errors(text: string): string[] {
  const { problems } = check(text)
  return problems
    .filter(({ severity }) => severity !== 'warning')
    .map(({ path }) => path.slice(4).join('.'))
}

const modes = [
  ['azure_openai', ['client_credentials', 'bearer']],
  ['cloud_a_ml', ['adc', 'service_account', 'bearer']],
  ['cloud_a_serverless_compat', ['adc', 'service_account', 'bearer']],
  ['cloud_b_ml', ['default_chain', 'static', 'bearer']],
] as const

function modesIn(text: string): Map<string, Set<string>> {
  const here = text.replaceAll(/\/etc\/gateway\/\S+\.json/g, google.serviceAccountFile())
  const { loaded, problems } = check(here)
  expect(problems.filter(({ severity }) => severity !== 'warning')).toEqual([])
  const found = new Map<string, Set<string>>()
  for (const { spec, config } of loaded?.providers ?? []) {
    const { auth } = config as { auth?: { mode: string } }
    const set = found.get(spec.type) ?? new Set()
    if (auth !== undefined) set.add(auth.mode)
    found.set(spec.type, set)
  }
  return found
}

test('the example has a block of each provider and auth mode', async () => {
  const example = await Bun.file(new URL('../../../gateway.example.yaml', import.meta.url)).text()
  const switchedOn = example.replace(/^ {2}#(- id: | {2,4}\w)/gm, '  $1')
  const found = modesIn(switchedOn)
  expect([...found.keys()].sort()).toEqual([
    'anthropic',
    'azure_openai',
    'cloud_a_ml',
    'cloud_a_serverless_compat',
    'cloud_b_ml',
    'gemini',
    'generic_compat',
    'openrouter',
    'simulator',
  ])
  for (const [type, list] of modes) expect([...(found.get(type) ?? [])]).toEqual([...list])
})

test('the blocks of the overview are valid', async () => {
  const page = await Bun.file(new URL('../../../docs/providers/README.md', import.meta.url)).text()
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block]) => block ?? '')
  const found = blocks.flatMap((block) => [...modesIn(block)])
  expect(found.map(([type]) => type)).toEqual(['groq', 'ollama', 'generic_compat', 'simulator'])
})

test.each([
  ['vertex-ai.md', 'cloud_a_ml'],
  ['cloud-run.md', 'cloud_a_serverless_compat'],
  ['bedrock.md', 'cloud_b_ml'],
  ['azure-openai.md', 'azure_openai'],
])('the guide %s has a block of each auth mode', async (name, type) => {
  const page = await Bun.file(new URL(`../../../docs/providers/${name}`, import.meta.url)).text()
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block]) => block ?? '')
  const found = new Set(blocks.flatMap((block) => [...(modesIn(block).get(type) ?? [])]))
  const expected = modes.find(([one]) => one === type)?.[1] ?? []
  expect([...found].sort()).toEqual([...expected].sort())
})

describe('compatibility.cloud_b_ml', () => {
  const generic = ['runtime_generic_chat', 'edge_generic_responses', 'edge_generic_chat']
  const styles = ['runtime_unified', 'runtime_native_invoke', ...generic, 'edge_native_messages']
  const flags = ['chat_completions', 'responses', 'embeddings', 'stream', 'tools', 'vision']
  const forbidden: Record<string, readonly string[]> = {
    runtime_unified: ['responses', 'embeddings', 'json_schema'],
    runtime_native_invoke: ['responses', 'embeddings', 'json_schema', 'stream'],
    runtime_generic_chat: ['responses', 'embeddings', 'json_schema'],
    edge_generic_responses: ['chat_completions', 'embeddings'],
    edge_generic_chat: ['responses', 'embeddings', 'json_schema'],
    edge_native_messages: ['responses', 'embeddings', 'json_schema'],
  }
  const config = (block: object, capabilities: object, name = 'cloud_b_ml') =>
    stringify({
      providers: [{ id: 'b', type: 'cloud_b_ml', region: 'us-east-1' }],
      models: [
        {
          id: 'm',
          routes: [
            {
              provider: 'b',
              upstream_model: 'anthropic.claude-opus-4-8',
              capabilities,
              compatibility: { [name]: block },
            },
          ],
        },
      ],
    })
  const base = (style: string) => (generic.includes(style) ? { base_path: '/v1' } : {})
  /** What the style needs to be right. */
  const needed = (style: string) =>
    style === 'edge_generic_responses' ? { chat_completions: false } : {}

  const cells = styles.flatMap((style) =>
    [...flags, 'json_schema'].map((flag) => [style, flag] as const),
  )
  test.each(cells)('%s with %s: true', (style, flag) => {
    const text = config({ api_style: style, ...base(style) }, { ...needed(style), [flag]: true })
    expect(errors(text)).toEqual(forbidden[style]?.includes(flag) ? [`capabilities.${flag}`] : [])
  })

  test.each(styles)('%s with and without base_path', (style) => {
    const path = 'compatibility.cloud_b_ml.base_path'
    const [without, within] = generic.includes(style) ? [[path], []] : [[], [path]]
    expect(errors(config({ api_style: style }, needed(style)))).toEqual(without)
    expect(errors(config({ api_style: style, base_path: '/v1' }, needed(style)))).toEqual(within)
  })

  test.each([
    ['no style', { base_path: '/v1' }, ['compatibility.cloud_b_ml.api_style']],
    ['another style', { api_style: 'invoke' }, ['compatibility.cloud_b_ml.api_style']],
    ['another key', { api_style: 'runtime_unified', x: 1 }, ['compatibility.cloud_b_ml.x']],
    [
      'a path of another form',
      { api_style: 'edge_generic_chat', base_path: 'v1' },
      ['compatibility.cloud_b_ml.base_path'],
    ],
  ])('%s', (_, block, places) => {
    expect(errors(config(block, {}))).toEqual(places)
  })

  test('chat completions that are not turned off where there are only responses', () => {
    const block = { api_style: 'edge_generic_responses', base_path: '/v1' }
    expect(errors(config(block, {}))).toEqual(['capabilities.chat_completions'])
    expect(errors(config(block, { chat_completions: false, json_schema: true }))).toEqual([])
  })

  test("another provider's block", () => {
    expect(errors(config({}, {}, 'generic_compat'))).toContain('compatibility.generic_compat')
  })
})
