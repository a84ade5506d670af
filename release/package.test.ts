import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ended } from '../test/harness/ended.ts'
import { createHostileFolder } from '../test/harness/hostile-folder.ts'
import { packProject } from '../test/harness/strangers.ts'

const ROOT = resolve(import.meta.dir, '..')
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

let home: string
let tarball: string
let packed: ReadonlySet<string>

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'gateway-package-'))
  // As root, Postgres runs under another account, which needs to enter this folder.
  chmodSync(home, 0o711)
  tarball = await packProject(home)
  const list = Bun.spawnSync(['tar', '-tzf', tarball]).stdout.toString()
  packed = new Set(
    list
      .trim()
      .split('\n')
      .map((path) => path.replace(/^package\//, '')),
  )
})

afterAll(() => rmSync(home, { recursive: true, force: true }), 60_000)

test('the package has no tests, and has the documents', () => {
  expect(
    [...packed].filter((path) => /\.test\.tsx?$|__fixtures__|\.fixture\.ts$/.test(path)),
  ).toEqual([])
  for (const paper of ['LICENSE', 'README.md', 'CHANGELOG.md', 'gateway.example.yaml']) {
    expect(packed).toContain(paper)
  }
})

test('the package has notices that name each package which is bundled with it', () => {
  expect(packed).toContain('THIRD_PARTY_NOTICES')
  const notices = readFileSync(join(ROOT, 'THIRD_PARTY_NOTICES'), 'utf8')
  const bundled = [...packed].flatMap(
    (path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(path)?.[1] ?? [],
  )
  expect(bundled.toSorted()).toEqual(manifest.bundledDependencies)
  expect(bundled.filter((name) => !notices.includes(`\n${name} `))).toEqual([])
})

test('the package has exactly the pictures that its pages show', () => {
  const pages = [...packed].filter((path) => path === 'README.md' || /^docs\/.*\.md$/.test(path))
  expect(pages.length).toBeGreaterThan(10)
  const shown = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/images\/[\w-]+\.png/g)].map(String),
  )
  const pictures = [...packed].filter((path) => /^docs\/.*\.png$/.test(path))
  expect(pictures.toSorted()).toEqual([...new Set(shown)].map((path) => `docs/${path}`).toSorted())
})

test('all imports of the program, the contract and the kits are in the package or in its dependencies', async () => {
  const entries = [manifest.bin.gateway, ...Object.values(manifest.exports as object)]
  const { metafile } = await Bun.build({
    entrypoints: entries.map((path) => join(ROOT, path)),
    root: ROOT,
    target: 'bun',
    packages: 'external',
    metafile: true,
    throw: true,
  })
  const files = Object.keys(metafile?.inputs ?? {}).map((path) =>
    resolve(path).slice(ROOT.length + 1),
  )
  expect(files.length).toBeGreaterThan(400)
  expect(files.filter((path) => !packed.has(path))).toEqual([])

  const imported = Object.values(metafile?.inputs ?? {}).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  )
  const names = imported.map((path) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path)
  const known = [...Object.keys(manifest.dependencies), ...builtinModules, manifest.name]
  const unknown = names.filter((name) => !known.includes(name) && !/^(node|bun):/.test(name))
  expect([...new Set(unknown)]).toEqual([])
})

test('the package works in an empty folder: embedded database, kits, patched driver, no config of the folder', async () => {
  const folder = join(home, 'elsewhere')
  mkdirSync(folder)
  await run(['add', tarball], folder)
  // Install scripts are disabled: the gateway creates the links that the script of Postgres
  // creates.
  expect(
    await run(['x', 'gateway', 'migrate', '--data-dir', join(home, 'data')], folder),
  ).toContain('applied')
  writeFileSync(
    join(folder, 'plugin.test.ts'),
    `import { expect, test } from 'bun:test'
import { definePlugin, GatewayError } from 'model-gateway/plugin'
import { startUpstream } from 'model-gateway/testing'
test('the contract and the kits are there', async () => {
  expect(definePlugin).toBeFunction()
  expect(new GatewayError('invalid_request', 'no').code).toBe('invalid_request')
  await (await startUpstream()).stop()
})
`,
  )
  await run(['test'], folder)
  const driver = (root: string) => Bun.resolveSync('postgres', join(root, 'kernel'))
  for (const module of ['index.js', 'connection.js']) {
    const text = (root: string) => readFileSync(join(dirname(driver(root)), module), 'utf8')
    expect(text(join(folder, 'node_modules/model-gateway'))).toBe(text(ROOT))
  }
  const hostile = createHostileFolder()
  const gateway = join(folder, 'node_modules/.bin/gateway')
  expect(await hostile.obeyed([gateway])).toEqual([])
  const checked = await hostile.run([gateway, 'check-config'])
  expect(checked.out).toContain('quick start config is valid')
  expect(hostile.wasObeyed()).toBe(false)
  hostile.remove()
}, 120_000)

async function run(args: readonly string[], cwd: string): Promise<string> {
  const child = Bun.spawn([process.execPath, ...args], { cwd, stdout: 'pipe', stderr: 'pipe' })
  const { out, err, code } = await ended(child)
  if (code !== 0) throw new Error(`${args.join(' ')}\n${out}\n${err}`)
  return out
}
