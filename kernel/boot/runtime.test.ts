import { describe, expect, test } from 'bun:test'
import { pino } from 'pino'
import type { LoadedConfig } from '../config/loaded.ts'
import type { Runtime } from '../lifecycle/exchange.ts'
import { type GuardPolicies, guard } from '../plugin/index.ts'
import type { Registry } from '../registry/registry.ts'
import { createCurrentRuntime, createRuntimeForPlugins, prepareRuntime } from './runtime.ts'

const runtime = (configVersion: string): Runtime => ({
  configVersion,
  acceptedAt: new Date(),
  catalog: { models: new Map(), ranked: [], find: () => undefined },
  guards: undefined,
  providers: new Map(),
})

test('a replaced config lives until its last request has ended', async () => {
  const disposed: string[] = []
  const disposer = (name: string) => async () => void disposed.push(name)
  const current = createCurrentRuntime({ runtime: runtime('a'), dispose: disposer('a') })
  const first = current.lease()
  const second = current.lease()
  current.replace({ runtime: runtime('b'), dispose: disposer('b') })
  expect(first.runtime.configVersion).toBe('a')
  expect(current.lease().runtime.configVersion).toBe('b')
  first.release()
  expect(disposed).toEqual([])
  second.release()
  expect(disposed).toEqual(['a'])
})

test('a plugin that holds a lease keeps its config, and gets none before the gateway serves', () => {
  let disposed = 0
  const forPlugins = createRuntimeForPlugins()
  expect(forPlugins.lease).toThrow('the config is not active yet')
  const current = createCurrentRuntime({
    runtime: runtime('a'),
    dispose: async () => void disposed++,
  })
  forPlugins.use(current)
  const { configVersion, release } = forPlugins.lease()
  current.replace({ runtime: runtime('b'), dispose: async () => {} })
  expect([configVersion, forPlugins.lease().configVersion, disposed]).toEqual(['a', 'b', 0])
  release()
  expect(disposed).toBe(1)
})

test('closing waits for the requests that run', async () => {
  let disposed = false
  const current = createCurrentRuntime({
    runtime: runtime('a'),
    dispose: async () => {
      disposed = true
    },
  })
  const lease = current.lease()
  const closing = current.close()
  await Bun.sleep(5)
  expect(disposed).toBe(false)
  lease.release()
  await closing
  expect(disposed).toBe(true)
})

test('disposes an idle config when another replaces it', () => {
  let disposed = 0
  const current = createCurrentRuntime({
    runtime: runtime('a'),
    dispose: async () => void disposed++,
  })
  current.lease().release()
  expect(disposed).toBe(0)
  current.replace({ runtime: runtime('b'), dispose: async () => {} })
  expect(disposed).toBe(1)
})

describe('policies that cannot be disposed', () => {
  /** A config without models, with a guard that compiles these policies. */
  function prepare(dispose: () => Promise<void>, models = new Map()) {
    const lines: string[] = []
    const policies = { dispose } as Partial<GuardPolicies>
    const registry = {
      all: (point: unknown) => (point === guard ? [{ compile: async () => policies }] : []),
      provided: () => [],
    } as unknown as Registry
    const snapshot = { version: 'a', models, providers: new Map() }
    const loaded = { snapshot, providers: [] } as unknown as LoadedConfig
    const log = pino({}, { write: (line: string) => lines.push(line) })
    return { lines, prepared: prepareRuntime(loaded, registry, log) }
  }
  const failing = () => Promise.reject(new Error('planted'))

  test('are logged and do not prevent the disposal of a config', async () => {
    const { lines, prepared } = prepare(failing)
    const current = createCurrentRuntime(await prepared)
    await current.close()
    expect(lines.join()).toContain('planted')
  })

  test('do not hide why a config is refused', async () => {
    const broken = { id: 'm', tags: [], routes: [{ id: 'm/p/u', provider: 'p' }] }
    const { lines, prepared } = prepare(failing, new Map([['m', broken]]))
    await expect(prepared).rejects.toThrow('provider p does not exist')
    expect(lines.join()).toContain('planted')
  })
})
