import { expect, test } from 'bun:test'
import { definePlugin, middleware, Type } from '../plugin/index.ts'
import { clockOnly, keptLog, loadedPlugins } from './registry.fixture.ts'
import { startPlugins } from './registry.ts'

const manifest = {
  version: '1.0.0',
  contract: 1,
  summary: 'A test.',
  config: Type.Object({}),
} as const

// The compiler checks this file: each `@ts-expect-error` that is not needed is an error too.

const declared = definePlugin({
  manifest: { ...manifest, id: 'plugin.declared', needs: ['clock'] },
  setup(ctx) {
    ctx.clock.now()
    expect(() => {
      // @ts-expect-error not in needs
      ctx.database.schema
    }).toThrow(
      `uses the capability "database", which is missing in its manifest: add 'database' to needs of plugin "plugin.declared"`,
    )
  },
})

const none = definePlugin({
  manifest: { ...manifest, id: 'plugin.none', needs: [] },
  setup(ctx) {
    for (const use of [
      // @ts-expect-error not in needs
      () => ctx.clock,
      // @ts-expect-error not in needs
      () => ctx.egress,
      // @ts-expect-error not in needs
      () => ctx.outbound,
      // @ts-expect-error not in needs
      () => ctx.database,
      // @ts-expect-error not in needs
      () => ctx.schedule,
      // @ts-expect-error not in needs
      () => ctx.files,
      // @ts-expect-error not in needs
      () => ctx.door,
      // @ts-expect-error not in needs
      () => ctx.start,
    ]) {
      expect(use).toThrow('is missing in its manifest')
    }
    expect(Object.keys(ctx).toSorted()).toEqual([
      'config',
      'log',
      'meter',
      'provide',
      'signal',
      'tracer',
      'uses',
    ])
  },
})

definePlugin({
  // @ts-expect-error unknown capability
  manifest: { ...manifest, id: 'plugin.unknown', needs: ['magic'] },
  setup() {},
})

definePlugin({
  manifest: { ...manifest, id: 'plugin.seams', needs: [] },
  setup(ctx) {
    for (const around of ['guard', 'settle', 'record'] as const) {
      // @ts-expect-error these steps cannot be wrapped
      ctx.provide(middleware, { id: around, around, handle() {} })
    }
    ctx.provide(middleware, {
      id: 'a',
      around: 'admit',
      async handle(exchange, next) {
        // @ts-expect-error response headers exist at `respond` only
        exchange.setHeader('x', 'y')
        // @ts-expect-error and nothing of a request can be assigned
        exchange.requestedModel = 'other'
        const result: undefined = await next()
        return result
      },
    })
  },
})

test('undeclared capabilities are not in the context, for the compiler and at run time', async () => {
  const plugins = loadedPlugins(declared as never, none as never)
  const registry = await startPlugins({
    plugins,
    configs: new Map(),
    capabilities: clockOnly,
    log: keptLog().log,
  })
  expect(registry.plugins.map(({ id }) => id)).toEqual(['plugin.declared', 'plugin.none'])
})
