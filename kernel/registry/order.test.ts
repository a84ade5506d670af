import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { extensionPoint, optional, type Plugin } from '../plugin/index.ts'
import { orderPlugins } from './order.ts'
import { loadedPlugins, plugin } from './registry.fixture.ts'

/** Orders plugins given as `name: names in its after`. */
function order(after: Record<string, string[]>) {
  const plugins = Object.entries(after).map(([name, names]) =>
    plugin(`plugin.${name}`, undefined, { after: names.map((n) => `plugin.${n}`) }),
  )
  const ordered = orderPlugins({ plugins: loadedPlugins(...plugins), complete: true })
  const ids = ordered.plugins.map((p) => p.plugin.manifest.id.replace('plugin.', ''))
  return { ids, problems: ordered.problems }
}

test('keeps the given order if nothing requires another', () => {
  expect(order({ c: [], a: [], b: [] }).ids).toEqual(['c', 'a', 'b'])
  expect(order({ c: ['b'], a: [], b: [] }).ids).toEqual(['b', 'c', 'a'])
  expect(order({ a: ['not-loaded'] })).toEqual({ ids: ['a'], problems: [] })
})

test('puts an isolated plugin after the isolating one', () => {
  const plugins = loadedPlugins(
    plugin('plugin.pack'),
    plugin('plugin.other'),
    plugin('plugin.isolator', undefined, { *isolates() {} }),
  ).map((loaded, index) => (index === 0 ? { ...loaded, isolation: 'worker' as const } : loaded))
  const ordered = orderPlugins({ plugins, complete: true })
  expect(ordered.plugins.map((p) => p.plugin.manifest.id)).toEqual([
    'plugin.isolator',
    'plugin.pack',
    'plugin.other',
  ])
})

test('sets up early plugins, with what they require, before the others', () => {
  const plugins = loadedPlugins(
    plugin('plugin.a'),
    plugin('plugin.b'),
    plugin('plugin.c', undefined, { early: true, requires: ['plugin.b'] }),
  )
  const ordered = orderPlugins({ plugins, complete: true })
  expect(ordered.plugins.map((p) => p.plugin.manifest.id)).toEqual([
    'plugin.b',
    'plugin.c',
    'plugin.a',
  ])
})

test('names a cycle once', () => {
  const { problems } = order({ x: ['a'], a: ['b'], b: ['c'], c: ['a'] })
  expect(problems).toEqual([
    {
      path: ['plugins', 1],
      message:
        'plugins depend on each other in a cycle: plugin.a (./plugin.a.ts) → plugin.b (./plugin.b.ts) → plugin.c (./plugin.c.ts) → plugin.a (./plugin.a.ts)',
    },
  ])
  expect(order({ a: ['a'] }).problems).toHaveLength(1)
})

test('reports a missing required plugin, unless one could not be loaded', () => {
  const plugins = loadedPlugins(plugin('plugin.a', undefined, { requires: ['plugin.b'] }))
  expect(orderPlugins({ plugins, complete: true }).problems.map((p) => p.message)).toEqual([
    'plugin "plugin.a" (./plugin.a.ts) requires plugin "plugin.b", which is not loaded',
  ])
  expect(orderPlugins({ plugins, complete: false }).problems).toEqual([])
})

test('reports a used point that no plugin declares to provide', () => {
  const chief = extensionPoint<string>('chief', 'one')
  const uses = {
    chief,
    helpers: extensionPoint<string>('helpers', 'many'),
    spare: optional(extensionPoint<string>('spare', 'one')),
  }
  const user = plugin('plugin.a', undefined, { uses })
  const provider = plugin('plugin.b', undefined, { provides: [chief] })
  const problems = (plugins: Plugin[], builtins = {}, complete = true) =>
    orderPlugins({ plugins: loadedPlugins(...plugins), complete }, builtins).problems
  expect(problems([user], { boss: provider })).toEqual([
    {
      path: ['plugins', 0],
      message: 'plugin "plugin.a" (./plugin.a.ts) uses chief, which no loaded plugin provides',
      hint: 'add builtin:boss to plugins',
    },
  ])
  expect(problems([user])[0]?.hint).toBe('add a plugin that provides it to plugins')
  expect(problems([user], {}, false)).toEqual([])
  expect(problems([user, provider])).toEqual([])
})

test('puts each plugin after its requirements', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const graph = fc.tuple(...names.map((_, i) => fc.subarray(names.slice(0, i))))
  fc.assert(
    fc.property(graph, fc.shuffledSubarray(names, { minLength: 6 }), (edges, shuffled) => {
      const after = Object.fromEntries(
        shuffled.map((name) => [name, edges[names.indexOf(name)] ?? []]),
      )
      const { ids, problems } = order(after)
      expect(problems).toEqual([])
      expect(ids.toSorted()).toEqual(names)
      for (const [name, earlier] of Object.entries(after)) {
        for (const other of earlier) expect(ids.indexOf(other)).toBeLessThan(ids.indexOf(name))
      }
    }),
  )
})
