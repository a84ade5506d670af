import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { contracts } from '../../kernel/plugin/contracts.ts'
import { exports as exported } from '../../package.json'

const root = resolve(import.meta.dir, '../..')
const MAX_CORE_NAMES = 50

const entryPaths = Object.entries(exported)
  .filter(
    ([, path]) => path.startsWith('./kernel/plugin/entries/') || path.endsWith('/contract.ts'),
  )
  .map(([name, path]): [string, string] => [`model-gateway${name.slice(1)}`, path])

const contractSources = readdirSync(join(root, 'kernel/plugin'), { recursive: true })
  .map(String)
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(root, 'kernel/plugin', path), 'utf8'))

/** The names that an entry lists, types included. */
function namesIn(path: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
  return [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) =>
    list
      .split(',')
      .map((name) => name.replace('type ', '').trim())
      .filter((name) => name !== ''),
  )
}

test('the module that every plugin imports has few names', () => {
  const names = namesIn('kernel/plugin/entries/plugin.ts')
  expect(names).toContain('definePlugin')
  expect(names.length).toBeGreaterThan(30)
  expect(names.length).toBeLessThanOrEqual(MAX_CORE_NAMES)
})

test('a name of the contract has one module', () => {
  const owners = new Map<string, string>()
  const twice: string[] = []
  for (const [module, path] of entryPaths) {
    for (const name of namesIn(path)) {
      const other = owners.get(name)
      if (other !== undefined) twice.push(`${name}: ${other} and ${module}`)
      owners.set(name, module)
    }
  }
  expect(owners.size).toBeGreaterThan(150)
  expect(twice).toEqual([])
})

test('every entry is a module of the package that the loader knows', () => {
  const ofTheKernel = entryPaths.filter(([, path]) => path.startsWith('./kernel/'))
  expect(ofTheKernel.map(([name]) => name).toSorted()).toEqual(Object.keys(contracts).toSorted())
})

/** The comment right above what declares a name, or gives it out. */
function commentOf(name: string): string {
  const declared = new RegExp(
    `/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\n(?:// biome-ignore[^\\n]*\\n)*export (?:type \\{[^}]*|\\{[^}]*|(?:async )?[a-z]+ )\\b${name}\\b`,
  )
  return contractSources.map((text) => declared.exec(text)?.[1] ?? '').join('')
}

test('each name that every plugin may import has an example', () => {
  const names = namesIn('kernel/plugin/entries/plugin.ts')
  expect(names.filter((name) => !commentOf(name).includes('@example'))).toEqual([])
  expect(commentOf('CONTRACT')).not.toContain('@example')
})
