import { describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkConfig } from '../config/check.ts'
import { parseConfig } from '../config/parse.ts'
import { GatewayError, Secret } from '../plugin/index.ts'
import { clockOnly, keptLog, plugin } from './registry.fixture.ts'
import { startPlugins } from './registry.ts'
import { resolvePlugins } from './resolve.ts'

const directory = mkdtempSync(join(tmpdir(), 'plugins-'))
const builtins = { people: plugin('plugin.people'), wire: plugin('provider.wire') }
const resolve = (section: unknown) => resolvePlugins(section, { builtins, directory })

async function ids(section: unknown) {
  const { plugins, problems } = await resolve(section)
  expect(problems).toEqual([])
  return plugins.map(({ plugin }) => plugin.manifest.id)
}
async function problem(section: unknown) {
  const { problems, complete } = await resolve(section)
  expect(complete).toBe(false)
  expect(problems).toHaveLength(1)
  return problems[0]
}
function file(name: string, text: string): string {
  writeFileSync(join(directory, name), text)
  return `./${name}`
}

/** The source of a plugin module outside the repository. */
const outside = (manifest: string, setup = '') => `
import { definePlugin, GatewayError, Secret, Type } from 'model-gateway/plugin'
export const kit = { GatewayError, Secret }
export default definePlugin({
  manifest: {
    id: 'plugin.outside', version: '1.0.0', contract: 1, summary: 'From outside.',
    config: Type.Object({ greeting: Type.String() }), needs: [], ${manifest}
  },
  setup(ctx) { ${setup} },
})
`

describe('which plugins a config names', () => {
  test('all built-ins without a section, exactly the listed ones with it', async () => {
    expect(await ids(undefined)).toEqual(['plugin.people', 'provider.wire'])
    expect(await ids([])).toEqual([])
    expect(await ids([{ use: 'builtin:wire' }])).toEqual(['provider.wire'])
  })

  test('the star loads the built-ins that are not listed separately', async () => {
    const section = [{ use: 'builtin:*' }, { use: 'builtin:people', config: { a: 1 } }]
    const { plugins } = await resolve(section)
    expect(plugins.map(({ use, path, config }) => ({ use, path, config }))).toEqual([
      { use: 'builtin:wire', path: ['plugins', 0], config: undefined },
      { use: 'builtin:people', path: ['plugins', 1], config: { a: 1 } },
    ])
  })

  test('entries that cannot be read are left to the config check', async () => {
    expect(await resolve('builtin:*')).toEqual({ plugins: [], problems: [], complete: false })
    const { plugins, complete } = await resolve([7, { us: 'x' }, { use: 'builtin:wire' }])
    expect([plugins.length, complete]).toEqual([1, false])
  })
})

describe('a file outside of the repository', () => {
  test('is loaded by its path, shares the classes of the contract and runs', async () => {
    const setup = "ctx.provide({ name: 'greetings', cardinality: 'many' }, ctx.config.greeting)"
    const use = file('outside.ts', outside('', setup))
    const text = `plugins: [{ use: ${use}, config: { greeting: hello } }]`
    const parsed = parseConfig(text)
    const resolved = await resolve(parsed.data?.plugins)
    const { loaded } = checkConfig(parsed, resolved, {})
    const registry = await startPlugins({
      plugins: resolved.plugins,
      configs: loaded?.pluginConfigs ?? new Map(),
      capabilities: clockOnly,
      log: keptLog().log,
    })
    expect(registry.all({ name: 'greetings', cardinality: 'many' })).toEqual(['hello'])
    const { kit } = await import(join(directory, 'outside.ts'))
    expect(new kit.GatewayError('not_found', 'x')).toBeInstanceOf(GatewayError)
    expect(new kit.Secret('x')).toBeInstanceOf(Secret)
    await registry.dispose()
  })

  test('may be absolute, and may be a package near the config', async () => {
    file('absolute.ts', outside(''))
    expect(await ids([{ use: join(directory, 'absolute.ts') }])).toEqual(['plugin.outside'])
    const folder = join(directory, 'node_modules', 'gateway-plugin-outside')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"name":"gateway-plugin-outside","main":"i.ts"}')
    writeFileSync(join(folder, 'i.ts'), outside(''))
    expect(await ids([{ use: 'npm:gateway-plugin-outside' }])).toEqual(['plugin.outside'])
  })
})

describe('problems name the plugin and its place', () => {
  test('an unknown built-in', async () => {
    expect(await problem([{ use: 'builtin:poeple' }])).toEqual({
      path: ['plugins', 0, 'use'],
      message: 'plugin builtin:poeple does not exist',
      hint: 'did you mean "people"?',
    })
    expect((await problem([{ use: 'builtin:toString' }]))?.message).toContain('does not exist')
  })

  test('a name without a place', async () => {
    expect((await problem([{ use: 'people' }]))?.hint).toBe(
      'write builtin:people, npm:people or a path such as ./people.ts',
    )
  })

  test.each([
    ['./absent.ts', /plugin \.\/absent\.ts cannot be loaded: /],
    ['npm:gateway-plugin-absent', /plugin npm:gateway-plugin-absent cannot be loaded: /],
    [file('broken.ts', 'export default {'), /broken\.ts cannot be loaded: /],
    [file('throws.ts', "throw new Error('boom')"), /throws\.ts cannot be loaded: boom/],
    [file('nothing.ts', 'export const x = 1'), /has no default export that is a plugin/],
    [file('other.ts', 'export default { manifest: {} }'), /without manifest and setup/],
    [file('v2.ts', outside('contract: 2')), /contract 2; this gateway supports contract 1/],
    [
      file('id.ts', outside("id: 'outside'")),
      /: id must be a string of the form kind\.name .*, got "outside"/,
    ],
    [
      file('public.ts', outside("id: 'plugin.public'")),
      /invalid id in its manifest: plugin id plugin\.public/,
    ],
    [
      file('needs.ts', outside("needs: ['root']")),
      /: needs\[0\] must be one of egress, .*, got "root"/,
    ],
    [
      file('config.ts', outside('config: {}')),
      /: config must be a schema made with .*, got an object/,
    ],
    [
      file('types.ts', outside("providerTypes: [{ type: 'x' }]")),
      /: providerTypes\[0\]\.config must be an object schema .*, got nothing/,
    ],
  ])('%s', async (use, message) => {
    const found = await problem([{ use }])
    expect(found?.path).toEqual(['plugins', 0, 'use'])
    expect(found?.message).toMatch(message)
  })

  test('syntax errors with their places, in the plugin or its imports', async () => {
    const two = file('two.ts', 'export default {\n  manifest: 1\n  setup() {}\n}\n')
    const place = join(directory, 'two.ts')
    const message = (await problem([{ use: two }]))?.message
    expect(message).toContain(`cannot be loaded: ${place}:3:3: Expected "}" but found "setup"; `)
    expect(message).toContain(`${place}:3:12: `)
    file('part.ts', 'const a = ;')
    const use = file('whole.ts', "import './part.ts'")
    expect((await problem([{ use }]))?.message).toBe(
      `plugin ./whole.ts cannot be loaded: ${join(directory, 'part.ts')}:1:11: Unexpected ;`,
    )
  })

  test('one whose import never ends, in addition to problems of others', async () => {
    const use = file('waits.ts', 'await new Promise(() => {})')
    const section = [{ use }, { use: 'builtin:poeple' }]
    const { problems } = await resolvePlugins(section, {
      builtins,
      directory,
      importDeadlineMs: 50,
    })
    expect(problems.map(({ message }) => message)).toEqual([
      'plugin ./waits.ts cannot be loaded: it was not imported within 50 ms: check its top-level await',
      'plugin builtin:poeple does not exist',
    ])
  })

  test('two plugins with one id', async () => {
    const use = file('twin.ts', outside("id: 'plugin.people'"))
    const { problems } = await resolve([{ use: 'builtin:people' }, { use }])
    expect(problems).toEqual([
      {
        path: ['plugins', 1],
        message: 'plugin "plugin.people" is loaded twice, by builtin:people and ./twin.ts',
        hint: 'remove one of them',
      },
    ])
  })

  test('two ids of one database schema, which is to be a plugin’s own', async () => {
    const use = file('sibling.ts', outside("id: 'plugin.provider-wire'"))
    const { problems } = await resolve([{ use: 'builtin:wire' }, { use }])
    expect(problems).toEqual([
      {
        path: ['plugins', 1],
        message:
          'plugin "plugin.provider-wire" (./sibling.ts) would share the database schema provider_wire with plugin "provider.wire" (builtin:wire)',
        hint: 'change the id of one of them',
      },
    ])
  })

  test('isolation without an isolating plugin, with a hint at the built-in', async () => {
    const section = [{ use: 'builtin:people', isolation: 'worker' }]
    const isolator = plugin('plugin.isolator', undefined, { *isolates() {} })
    const path = ['plugins', 0, 'isolation']
    const message = 'no loaded plugin can isolate others in a worker'
    expect((await resolve(section)).problems).toEqual([
      { path, message, hint: 'add a plugin that can to plugins' },
    ])
    const options = { builtins: { ...builtins, isolator }, directory }
    expect((await resolvePlugins(section, options)).problems).toEqual([
      { path, message, hint: 'add builtin:isolator to plugins' },
    ])
    const both = [...section, { use: 'builtin:isolator' }]
    expect((await resolvePlugins(both, options)).problems).toEqual([])
  })

  test('a config for the star', async () => {
    const { problems } = await resolve([{ use: 'builtin:*', config: {} }])
    expect(problems.map((p) => p.path)).toEqual([['plugins', 0, 'config']])
  })
})
