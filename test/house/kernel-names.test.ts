import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Glob } from 'bun'
import { kernelSections } from '../../kernel/config/schema.ts'
import { nameAt } from '../../kernel/plugin/index.ts'
import { builtins } from '../../plugins/standard/builtins.ts'
import { vendors } from '../../plugins/standard/known-providers.ts'

const ROOT = new URL('../../', import.meta.url).pathname

/** Vendors, whose formats the wire reads and names. */
const vendorTypes = new Set(vendors.map(({ type }) => type))

/** Every name by which a built-in provider, pack, check or auth mode is known. */
async function namesOfBuiltins(): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const [name, { manifest }] of Object.entries(builtins)) {
    const kind = manifest.id.split('.', 1)[0] as string
    if (['provider', 'guardrail-pack', 'check', 'managed-check', 'mcp-auth'].includes(kind)) {
      names.add(name)
      names.add(manifest.id)
    }
    const { providerTypes = [], declares = [] } = manifest
    for (const { type, aliases = [] } of providerTypes)
      for (const n of [type, ...aliases]) names.add(n)
    for (const { point, spec } of declares) {
      const { aliases = [] } = spec as { aliases?: readonly string[] }
      for (const n of [nameAt(point, spec), ...aliases]) names.add(n)
    }
  }
  return names.difference(vendorTypes)
}

/** `none` is a word of the language: it names an auth mode only where one is meant. */
function findsIn(names: ReadonlySet<string>) {
  const escaped = (name: string) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const patterns = [...names].map((name) =>
    name === 'none'
      ? { name, pattern: /auth_mode[^\n]{0,12}['"]none['"]|mcp-auth\.none/ }
      : { name, pattern: new RegExp(`(?<![\\w-])${escaped(name)}(?![\\w-])`, 'i') },
  )
  return (text: string) =>
    patterns.filter(({ pattern }) => pattern.test(text)).map(({ name }) => name)
}

test('the search finds a name in code, text and comments, and no word that only holds one', async () => {
  const names = await namesOfBuiltins()
  expect(names.size).toBeGreaterThan(30)
  for (const known of [
    'generic_compat',
    'openai_compat',
    'core.shell',
    'model_armor',
    'oauth_obo',
  ]) {
    expect([...names]).toContain(known)
  }
  const find = findsIn(names)
  expect(find("if (type === 'generic_compat') return")).toEqual(['generic_compat'])
  expect(find('// as core.shell does')).toEqual(['core.shell'])
  expect(find("auth_mode === 'none'")).toEqual(['none'])
  expect(find('none of them is a simulators-list')).toEqual([])
})

test('nothing in the kernel names a provider, pack, check or auth mode', async () => {
  const find = findsIn(await namesOfBuiltins())
  const found: string[] = []
  const files = [...new Glob('kernel/**/*').scanSync({ cwd: ROOT })]
  expect(files.length).toBeGreaterThan(100)
  for (const file of files) {
    const lines = readFileSync(`${ROOT}${file}`, 'utf8').split('\n')
    for (const [index, line] of lines.entries()) {
      for (const name of find(line)) found.push(`${file}:${index + 1}: ${name}`)
    }
  }
  expect(found).toEqual([])
})

const declared = Object.values(builtins).flatMap(({ manifest }) => manifest.dialects ?? [])
/** `audio` of `audio.speech` is a word for tokens, too. */
const isPrefix = (name: string) => declared.some((dialect) => dialect.startsWith(`${name}.`))
/** What callers ask for: the declared dialects, and one for each built-in `api-NAME`. */
const apis = new Set([
  ...declared,
  ...Object.keys(builtins)
    .flatMap((name) => (name.startsWith('api-') ? [name.slice(4)] : []))
    .filter((name) => !isPrefix(name)),
])

/** Built-in plugins by their ids, and by `builtin:NAME`; names of one word are words of the language. */
const plugins = Object.entries(builtins).flatMap(([name, { manifest }]) => [
  manifest.id,
  name.includes('-') ? name : `builtin:${name}`,
])

/** An API by its path, a file or a function named after it and, but for a section of the config, as a word. */
function apiPattern(api: string): RegExp {
  const path = `/v1/${api.replace('_', '/')}(?![\\w/-])`
  if (kernelSections.some((section) => section === api)) return new RegExp(path)
  const [first] = api.split('_')
  const word = api.includes('_') ? `\\b${api.replace('_', '[_ ]')}\\b` : `(['"\`])${api}\\1`
  const file = `/${first}-[\\w-]+\\.ts['"]`
  const code = `(?:^|[^a-z])(?:[a-z]+)?${first}(?:Call|Error|Events|Over|Reply|Request|Stream)`
  return new RegExp([path, word, file, code].join('|'), 'i')
}

function findsApisAndPlugins() {
  const patterns = [...apis].map((name) => ({ name, pattern: apiPattern(name) }))
  const findPlugins = findsIn(new Set(plugins))
  return (text: string) => [
    ...patterns.filter(({ pattern }) => pattern.test(text)).map(({ name }) => name),
    ...findPlugins(text),
  ]
}

test('the search finds APIs and plugins in code and comments', () => {
  const find = findsApisAndPlugins()
  for (const [line, name] of [
    [".post('/v1/messages', infer)", 'messages'],
    ["if (surface === 'messages') return", 'messages'],
    ["import { a } from '../wire/messages-stream.ts'", 'messages'],
    ['return createMessagesStream(options)', 'messages'],
    ['/** Runs as chat completions. */', 'chat_completions'],
    ["responses: '/v1/responses',", 'responses'],
    ["after: ['plugin.request-log'],", 'plugin.request-log'],
    ["use: 'builtin:identity'", 'builtin:identity'],
  ] as const) {
    expect(find(line)).toContain(name)
  }
  for (const line of [
    'for (const message of messages)',
    "['models', 0]",
    "'/api/v1/admin/users'",
  ]) {
    expect(find(line)).toEqual([])
  }
})

test('no code of the kernel, wire aside, names an API or a built-in plugin', () => {
  const find = findsApisAndPlugins()
  const found: string[] = []
  const files = [...new Glob('kernel/**/*.ts').scanSync({ cwd: ROOT })].filter(
    (file) => !/^kernel\/wire\/|\.test\.ts$|\.fixture\.ts$|\/testing\.ts$|__fixtures__/.test(file),
  )
  expect(files.length).toBeGreaterThan(50)
  for (const file of files) {
    const lines = readFileSync(`${ROOT}${file}`, 'utf8').split('\n')
    for (const [index, line] of lines.entries()) {
      for (const name of find(line)) found.push(`${file}:${index + 1}: ${name}`)
    }
  }
  expect(found).toEqual([])
})
