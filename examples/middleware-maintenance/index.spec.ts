import { describe, expect, test } from 'bun:test'
import { middleware } from 'model-gateway/middleware'
import { ConfigError, GatewayError } from 'model-gateway/plugin'
import { middlewareCost, setUpPlugin, testMiddleware, testPlugin } from 'model-gateway/testing'
import plugin from './src/index.ts'
import { createMaintenance, UPCOMING } from './src/maintenance.ts'
import { readWindows } from './src/windows.ts'

const noon = new Date('2026-06-01T12:00:00Z')
const clock = { now: () => noon }

/** The kit's requests are for the model `small-model`. */
const closed = {
  from: '2026-06-01T11:00:00Z',
  until: '2026-06-01T12:30:00Z',
  models: ['small-model'],
}
const soon = { from: '2026-06-01T15:30:00+02:00', until: '2026-06-01T16:00:00+02:00' }
const past = { from: '2026-06-01T10:00:00Z', until: '2026-06-01T12:00:00Z' }
const others = { ...closed, models: ['large-model'] }

testPlugin({ plugin, config: { windows: [closed] } })

describe('while a model is closed', () => {
  testMiddleware({
    plugin,
    config: { windows: [past, others, closed] },
    capabilities: { clock },
    cases: [
      { name: 'its requests are refused', id: 'maintenance.door', refused: 'no_routes_available' },
      { name: 'announces no window', id: 'maintenance.notice', headers: {} },
    ],
  })
})

describe('before it closes', () => {
  testMiddleware({
    plugin,
    config: { windows: [past, others, soon], notice_minutes: 120 },
    capabilities: { clock },
    cases: [
      { name: 'lets requests pass', id: 'maintenance.door' },
      {
        name: 'announces the window',
        id: 'maintenance.notice',
        state: { [UPCOMING]: '2026-06-01T13:30:00.000Z' },
        headers: { 'x-maintenance-from': '2026-06-01T13:30:00.000Z' },
      },
    ],
  })
})

describe('a refusal', () => {
  async function refusal(retry_after_seconds: number): Promise<GatewayError> {
    const { windows } = readWindows([closed])
    const [door] = createMaintenance({ windows, notice_minutes: 0, retry_after_seconds }, clock)
    if (door?.around !== 'admit') throw new Error('the first middleware is at admit')
    const exchange = { resolvedModel: 'small-model', state: new Map() }
    const error = await Promise.resolve(
      door.handle(exchange as unknown as Parameters<typeof door.handle>[0], async () => undefined),
    ).catch((reason) => reason)
    expect(error).toBeInstanceOf(GatewayError)
    return error
  }

  test('retry-after is at most retry_after_seconds', async () => {
    expect((await refusal(3600)).headers).toEqual({ 'retry-after': '1800' })
    expect((await refusal(60)).headers).toEqual({ 'retry-after': '60' })
    expect((await refusal(60)).message).toContain('2026-06-01T12:30:00.000Z')
  })
})

describe('the config', () => {
  test.each([
    ['a time without an offset', { ...closed, from: '2026-06-01T11:00' }, 'windows[0].from'],
    ['an invalid date', { ...closed, until: '2026-13-01T11:00:00Z' }, 'windows[0].until'],
    ['an end before the start', { ...closed, until: closed.from }, 'windows[0].until'],
  ])('does not accept %s', async (_, window, where) => {
    const bench = await setUpPlugin({ plugin, config: { windows: [window] } })
    expect(bench.error).toBeInstanceOf(ConfigError)
    expect(String(bench.error)).toContain(where)
    await bench.dispose()
  })

  test('without windows no middleware is registered', async () => {
    const bench = await setUpPlugin({ plugin })
    expect(bench.of(middleware)).toEqual([])
    await bench.dispose()
  })
})

test('many windows cost little', async () => {
  const { windows } = readWindows(Array.from({ length: 20 }, () => past))
  const settings = { windows, notice_minutes: 60, retry_after_seconds: 60 }
  for (const each of createMaintenance(settings, clock)) {
    expect(await middlewareCost(each)).toBeLessThan(100)
  }
})
