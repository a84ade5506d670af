import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Glob } from 'bun'
import { mcpAuthModes } from '../../plugins/mcp-proxy/contract.ts'
import { builtins } from '../../plugins/standard/builtins.ts'

const ROOT = new URL('../../', import.meta.url).pathname

/** Every name by which a built-in provider, pack, check or auth mode is known. */
async function namesOfBuiltins(): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const [name, { manifest, setup }] of Object.entries(builtins)) {
    const kind = manifest.id.split('.', 1)[0] as string
    if (['provider', 'guardrail-pack', 'check', 'managed-check', 'mcp-auth'].includes(kind)) {
      names.add(name)
      names.add(manifest.id)
    }
    const { providerTypes = [], guardrailPacks = [], managedChecks = [] } = manifest
    for (const { type, aliases = [] } of providerTypes)
      for (const n of [type, ...aliases]) names.add(n)
    for (const { id, aliases = [] } of guardrailPacks)
      for (const n of [id, ...aliases]) names.add(n)
    for (const { kind: own, aliases = [] } of managedChecks) {
      for (const n of [own, ...aliases]) names.add(n)
    }
    if (kind !== 'mcp-auth') continue
    const provide = (point: unknown, { mode }: { mode: string }) => {
      if (point === mcpAuthModes) names.add(mode)
    }
    await setup({ provide } as never)
  }
  return names
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
