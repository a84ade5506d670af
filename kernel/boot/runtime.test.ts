import { expect, test } from 'bun:test'
import type { Runtime } from '../lifecycle/exchange.ts'
import { createCurrentRuntime } from './runtime.ts'

const runtime = (configVersion: string): Runtime => ({
  configVersion,
  acceptedAt: new Date(),
  catalog: { models: new Map(), ranked: [] },
  guardOfServer: () => undefined,
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

test('an idle config is disposed when another takes its place', () => {
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
