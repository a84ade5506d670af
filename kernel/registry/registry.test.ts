import { describe, expect, test } from 'bun:test'
import type { LoadedPlugin } from '../config/loaded.ts'
import {
  ConfigError,
  type Disposer,
  extensionPoint,
  named,
  optional,
  type Plugin,
  type ProviderFactory,
  providerFactories,
  Type,
} from '../plugin/index.ts'
import { clockOnly, keptLog, loadedPlugins, plugin } from './registry.fixture.ts'
import { PluginError, startPlugins } from './registry.ts'

const greetings = extensionPoint<string>('greetings', 'many')
const chief = extensionPoint<string>('chief', 'one')
const type = { type: 'wire', config: Type.Object({}), compatibility: Type.Object({}) }
const factory: ProviderFactory = {
  type: 'wire',
  create() {
    throw new Error('not in this test')
  },
}

function start(plugins: Plugin[], options: { setupDeadlineMs?: number; config?: object } = {}) {
  const { log, lines } = keptLog()
  const { config, ...rest } = options
  const configs = new Map(plugins.map(({ manifest }) => [manifest.id, config]))
  const registry = startPlugins({
    plugins: loadedPlugins(...plugins),
    configs,
    capabilities: clockOnly,
    log,
    ...rest,
  })
  return { registry, lines }
}
async function failure(plugins: Plugin[], options = {}): Promise<Error> {
  return start(plugins, options).registry.then(
    () => {
      throw new Error('it started')
    },
    (error) => error,
  )
}

describe('a started registry', () => {
  test('returns implementations in set-up order, and lists its plugins', async () => {
    const { registry } = start([
      plugin('plugin.a', (ctx) => ctx.provide(greetings, 'hello')),
      plugin(
        'plugin.b',
        async (ctx) => {
          ctx.provide(greetings, 'hi')
          await Bun.sleep(1)
          ctx.provide(greetings, 'ho')
          ctx.provide(chief, 'me')
        },
        { provides: [chief] },
      ),
    ])
    const started = await registry
    expect(started.all(greetings)).toEqual(['hello', 'hi', 'ho'])
    expect(started.one(chief)).toBe('me')
    expect(started.all(extensionPoint('empty', 'many'))).toEqual([])
    expect(() => started.one(extensionPoint('empty', 'one'))).toThrow('no plugin provides empty')
    expect(started.plugins).toEqual([
      {
        id: 'plugin.a',
        version: '1.0.0',
        summary: 'plugin.a',
        use: './plugin.a.ts',
        provides: ['greetings'],
        needs: [],
        isolation: undefined,
      },
      {
        id: 'plugin.b',
        version: '1.0.0',
        summary: 'plugin.b',
        use: './plugin.b.ts',
        provides: ['greetings', 'chief'],
        needs: [],
        isolation: undefined,
      },
    ])
    expect(Object.isFrozen(started.all(greetings))).toBe(true)
  })

  test('gives a plugin its config, a log with its id, and only its needed capabilities', async () => {
    const config = Object.freeze({ a: 1 })
    let seen: Record<string, unknown> = {}
    const { registry, lines } = start(
      [
        plugin(
          'plugin.a',
          (ctx) => {
            seen = { ...ctx }
            expect(Object.isFrozen(ctx)).toBe(true)
            ctx.log.info('hello')
          },
          { needs: ['clock'] },
        ),
      ],
      { config },
    )
    await registry
    expect(Object.keys(seen).toSorted()).toEqual([
      'clock',
      'config',
      'log',
      'meter',
      'provide',
      'signal',
      'tracer',
      'uses',
    ])
    expect(seen.config).toBe(config)
    expect(lines[0]).toMatchObject({ plugin: 'plugin.a', msg: 'hello' })
  })

  test('an undeclared capability is absent, and the message says what to add', async () => {
    let names: readonly string[] = []
    const nosy = plugin('plugin.a', (ctx) => {
      names = Object.keys(ctx)
      ctx.clock.now()
    })
    expect((await failure([nosy])).message).toBe(
      'plugin "plugin.a" (plugins[0]: ./plugin.a.ts): uses the capability "clock", which is missing in its manifest: add \'clock\' to needs of plugin "plugin.a"',
    )
    expect(names).not.toContain('clock')
  })

  test('passes a plugin functions for what it uses, callable once all are set up', async () => {
    let used: Record<string, () => unknown> = {}
    const { registry } = start([
      plugin(
        'plugin.a',
        ({ uses }) => {
          used = uses as typeof used
          for (const early of [used.greetings, used.greeters]) {
            expect(() => early?.()).toThrow('greetings can be used once all plugins are set up')
          }
        },
        {
          uses: {
            greetings,
            greeters: named(greetings),
            chief,
            unprovided: optional(extensionPoint<string>('unprovided', 'one')),
          },
        },
      ),
      plugin(
        'plugin.b',
        (ctx) => {
          ctx.provide(greetings, 'hi')
          ctx.provide(chief, 'me')
        },
        { provides: [chief] },
      ),
    ])
    await registry
    expect(used.greetings?.()).toEqual(['hi'])
    expect(used.greeters?.()).toEqual([{ plugin: 'plugin.b', implementation: 'hi' }])
    expect(used.chief?.()).toBe('me')
    expect(used.unprovided?.()).toBeUndefined()
  })
})

describe('what is refused', () => {
  test('a second implementation of a point for one, naming both', async () => {
    const boss = (id: `${string}.${string}`) =>
      plugin(id, (ctx) => ctx.provide(chief, id), { provides: [chief] })
    const error = await failure([boss('plugin.a'), boss('plugin.b')])
    expect(error).toBeInstanceOf(PluginError)
    expect(error.message).toBe(
      'plugin "plugin.b" (plugins[1]: ./plugin.b.ts): chief is already provided by plugin "plugin.a"',
    )
    expect((error as PluginError).path).toEqual(['plugins', 1])
    const twice = plugin(
      'plugin.c',
      (ctx) => {
        ctx.provide(chief, 'first')
        ctx.provide(chief, 'second')
      },
      { provides: [chief] },
    )
    expect((await failure([twice])).message).toEndWith(
      'chief is already provided by plugin "plugin.c"',
    )
  })

  test('a single point that is provided but not declared, or declared but not provided', async () => {
    const silent = plugin('plugin.a', (ctx) => ctx.provide(chief, 'me'))
    expect((await failure([silent])).message).toEndWith(
      'provides chief, which is missing in provides of its manifest',
    )
    const idle = plugin('plugin.a', () => {}, { provides: [chief] })
    expect((await failure([idle])).message).toEndWith(
      'declares that it provides chief but does not',
    )
  })

  test('a plugin that uses a point of a plugin that was left out', async () => {
    const fails = plugin(
      'plugin.chief',
      () => {
        throw new Error('planted')
      },
      { provides: [chief] },
    )
    const [first, second] = loadedPlugins(fails, plugin('plugin.b', undefined, { uses: { chief } }))
    const started = startPlugins({
      plugins: [{ ...(first as LoadedPlugin), onBootFailure: 'disable' }, second as LoadedPlugin],
      configs: new Map(),
      capabilities: clockOnly,
      log: keptLog().log,
    })
    await expect(started).rejects.toThrow(
      'plugin "plugin.b" (plugins[1]: ./plugin.b.ts): uses chief of plugin "plugin.chief", which was left out',
    )
  })

  test('providing after set-up', async () => {
    let late = () => {}
    const { registry } = start([
      plugin('plugin.a', (ctx) => {
        late = () => ctx.provide(greetings, 'late')
      }),
    ])
    const started = await registry
    expect(late).toThrow('plugin "plugin.a" provides greetings after its set-up returned')
    expect(started.all(greetings)).toEqual([])
  })

  test.each([
    ['declares the provider type "wire" but does not provide it', [type], []],
    ['provides "wire", a provider type that its manifest does not declare', [], [factory]],
    ['provides the provider type "wire" twice', [type], [factory, factory]],
  ])('a plugin that %s', async (message, providerTypes, factories) => {
    const faulty = plugin(
      'provider.wire',
      (ctx) => {
        for (const each of factories) ctx.provide(providerFactories, each)
      },
      { providerTypes },
    )
    expect((await failure([faulty])).message).toEndWith(message)
  })
})

describe('failures', () => {
  /** Plugins that record their events; the last one fails with this error. */
  function chain(journal: string[], fail: Plugin['setup']) {
    const noting = (name: string, disposer: Disposer) =>
      plugin(`plugin.${name}`, (ctx) => {
        ctx.signal.addEventListener('abort', () => journal.push(`${name} aborted`))
        return disposer
      })
    return [
      noting('a', () => void journal.push('a disposed')),
      noting('b', () => {
        journal.push('b throws')
        throw new Error('cannot dispose')
      }),
      noting('c', () => void journal.push('c disposed')),
      plugin('plugin.d', fail),
    ]
  }
  const undone = ['c aborted', 'c disposed', 'b aborted', 'b throws', 'a aborted', 'a disposed']

  test('a set-up that throws undoes all before it, in reverse', async () => {
    const journal: string[] = []
    const error = await failure(
      chain(journal, () => {
        throw new Error('boom')
      }),
    )
    expect(error.message).toBe('plugin "plugin.d" (plugins[3]: ./plugin.d.ts): boom')
    expect(journal).toEqual(undone)
  })

  test('a set-up that hangs fails, and its late result is disposed', async () => {
    const journal: string[] = []
    const hanging = Promise.withResolvers<Disposer>()
    const error = await failure(
      chain(journal, () => hanging.promise),
      { setupDeadlineMs: 20 },
    )
    expect(error.message).toBe(
      'plugin "plugin.d" (plugins[3]: ./plugin.d.ts): set-up did not finish within 20 ms',
    )
    expect(journal).toEqual(undone)
    hanging.resolve(() => void journal.push('d disposed'))
    await Bun.sleep(5)
    expect(journal.at(-1)).toBe('d disposed')
  })

  test('a plugin that is left out is disposed at once, and once', async () => {
    const journal: string[] = []
    const [loaded] = loadedPlugins(
      plugin('plugin.a', (ctx) => {
        ctx.signal.addEventListener('abort', () => journal.push('aborted'))
        ctx.provide(providerFactories, factory)
        return () => void journal.push('disposed')
      }),
    )
    const registry = await startPlugins({
      plugins: [{ ...(loaded as LoadedPlugin), onBootFailure: 'disable' }],
      configs: new Map(),
      capabilities: clockOnly,
      log: keptLog().log,
    })
    expect(registry.leftOut.map(({ id }) => id)).toEqual(['plugin.a'])
    expect(journal).toEqual(['aborted', 'disposed'])
    await registry.dispose()
    expect(journal).toEqual(['aborted', 'disposed'])
  })

  test('a ConfigError of a set-up keeps its paths and names the plugin', async () => {
    const error = await failure([
      plugin('plugin.a', () => {
        throw new ConfigError([{ path: ['people', 0], message: 'is wrong' }])
      }),
    ])
    expect((error as ConfigError).problems).toEqual([
      { path: ['people', 0], message: 'is wrong (plugin "plugin.a", plugins[0])' },
    ])
  })

  test('capabilities that cannot be made fail the plugin that needs them', async () => {
    const error = await failure([plugin('plugin.a', undefined, { needs: ['database'] })])
    expect(error.message).toContain('plugin "plugin.a"')
  })
})

test('disposes in reverse order, contains faults, and runs once', async () => {
  const journal: string[] = []
  const { registry, lines } = start([
    plugin('plugin.a', () => () => void journal.push('a')),
    plugin('plugin.b', () => async () => {
      journal.push('b')
      throw new Error('boom')
    }),
    plugin('plugin.c', () => {}),
  ])
  const started = await registry
  await Promise.all([started.dispose(), started.dispose()])
  await started.dispose()
  expect(journal).toEqual(['b', 'a'])
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ plugin: 'plugin.b', err: { message: 'boom' } })
})
