import { expect, test } from 'bun:test'
import { createFreshLoad } from './fresh-load.ts'

/** What is there now, and what was read of it; a load ends when it is let go. */
function open() {
  const state = { there: 1, read: 0, running: 0, most: 0, failing: false }
  const gates: PromiseWithResolvers<void>[] = []
  const load = createFreshLoad(async () => {
    state.running++
    state.most = Math.max(state.most, state.running)
    const found = state.there
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    await gate.promise
    state.running--
    if (state.failing) throw new Error('away')
    state.read = found
  })
  return { state, load, letGo: () => gates.shift()?.resolve() }
}

test('a request during a load gets a state that is not older than the request', async () => {
  const { state, load, letGo } = open()
  const first = load()
  state.there = 2
  const second = load()
  expect(load()).toBe(second)
  letGo()
  await first
  expect(state.read).toBe(1)
  await Bun.sleep(0)
  letGo()
  await second
  expect(state).toMatchObject({ read: 2, most: 1 })
})

test('a failed load does not prevent the next one', async () => {
  const { state, load, letGo } = open()
  state.failing = true
  const first = load()
  const second = load()
  letGo()
  await expect(first).rejects.toThrow('away')
  state.failing = false
  await Bun.sleep(0)
  letGo()
  await second
  expect(state.read).toBe(1)
})
