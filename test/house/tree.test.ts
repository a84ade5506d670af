import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')

/** Tracked files, and new ones that are not ignored. */
const files = spawnSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'],
  { cwd: root, encoding: 'utf8' },
)
  .stdout.split('\0')
  .filter((path) => path !== '' && existsSync(join(root, path)))

const MACHINE_PATH = /(?<![\w.~-])\/(?:root|work|home|Users)\/[\w.-]/
const REGISTRY = /https?:\/\/[^/\s"'`]*(?:registry|npmjs|npmmirror|artifactory|nexus|verdaccio)/i

function machineTraces(text: string): string[] {
  return text.split('\n').filter((line) => MACHINE_PATH.test(line) || REGISTRY.test(line))
}

/** Migrations that a plugin's file imports although they are another plugin's. */
function foreignMigrations(path: string, text: string): string[] {
  const own = path.split('/')[1]
  return [...text.matchAll(/['"](?:\.\.\/)+migrations\/([^/'"]+)\//g)]
    .map((match) => match[1] ?? '')
    .filter((name) => name !== own)
}

test('no file names a path of somebody’s machine or a package registry', () => {
  const home = ['', 'home', 'alice', 'gateway'].join('/')
  const host = ['https:', '', 'npm.registry.example', 'elysia.tgz'].join('/')
  expect(machineTraces(`cd ${home}\n"${host}"\nplain`)).toHaveLength(2)
  expect(machineTraces('https://example.com/home/x\nkernel/registry/load.ts')).toEqual([])

  expect(files.length).toBeGreaterThan(10)
  const found = files.flatMap((path) =>
    machineTraces(readFileSync(join(root, path), 'utf8')).map((line) => `${path}: ${line.trim()}`),
  )
  expect(found).toEqual([])
})

test('a plugin imports no migrations but its own', () => {
  const line = "import a from '../../migrations/identity/0001_start.sql'"
  expect(foreignMigrations('plugins/accounting/index.ts', line)).toEqual(['identity'])
  expect(foreignMigrations('plugins/identity/index.ts', line)).toEqual([])

  const found = files
    .filter((path) => path.startsWith('plugins/') && path.endsWith('.ts'))
    .flatMap((path) => foreignMigrations(path, readFileSync(join(root, path), 'utf8')))
  expect(found).toEqual([])
})

test('packages are pinned to exact versions and the lockfile names no address', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
    devDependencies: Record<string, string>
  }
  const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies })
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([])
  expect(readFileSync(join(root, 'bun.lock'), 'utf8')).not.toMatch(/https?:\/\//)
})

test('server code is checked without the types of the DOM, which only the console has', () => {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
  const app = 'plugins/console/app'
  const server = read('tsconfig.json')
  expect(server.compilerOptions.lib).toEqual(['ESNext'])
  expect(server.exclude).toEqual([app, 'test/browser'])
  expect(read(`${app}/tsconfig.json`).compilerOptions.lib).toContain('DOM')
  expect(read('package.json').scripts.typecheck).toBe(`tsc --noEmit && tsc --noEmit -p ${app}`)
})
