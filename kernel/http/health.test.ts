import { describe, expect, jest, test } from 'bun:test'
import type { HealthCheck, HealthStatus } from '../plugin/index.ts'
import { createHealth } from './health.ts'

function health(checks: readonly HealthCheck[] = [], reachable = true) {
  const faults: string[] = []
  const created = createHealth({
    checks,
    configVersion: () => 'v1',
    databaseReachable: () => reachable,
    fault: (message) => faults.push(message),
  })
  const ask = async (): Promise<Record<string, unknown>> => {
    const response = created.ready()
    return { code: response.status, ...((await response.json()) as Record<string, unknown>) }
  }
  return { ...created, ask, faults }
}

const says = (name: string, status: HealthStatus): HealthCheck => ({
  name,
  check: () => ({ status, details: { depth: 3 } }),
})

test('all is well', async () => {
  expect(await health([says('a', 'ok')]).ask()).toEqual({
    code: 200,
    status: 'ok',
    config_version: 'v1',
    database: 'reachable',
    migrations: 'current',
    checks: { a: { status: 'ok', depth: 3 } },
  })
})

test('an answer is of its moment', () => {
  expect(health().ready().headers.get('cache-control')).toBe('no-store')
})

test.each([
  [['ok', 'degraded'], true, 200, 'degraded'],
  [['degraded', 'failing', 'ok'], true, 503, 'failing'],
  [['ok'], false, 200, 'degraded'],
  [['failing'], false, 503, 'failing'],
] as const)(
  '%p with a reachable database: %p gives %d %s',
  async (statuses, reachable, code, status) => {
    const checks = statuses.map((each, n) => says(`c${n}`, each))
    expect(await health(checks, reachable).ask()).toMatchObject({ code, status })
  },
)

test('a status inside the details of a check does not count', async () => {
  const check = () => ({ status: 'failing' as const, details: { status: 'ok' } })
  expect(await health([{ name: 'a', check }]).ask()).toMatchObject({
    status: 'failing',
    checks: { a: { status: 'failing' } },
  })
})

describe('a check that misbehaves', () => {
  const bad: [string, HealthCheck['check']][] = [
    [
      'throws',
      () => {
        throw new Error('secret')
      },
    ],
    ['says nonsense', () => ({ status: 'fine' as HealthStatus })],
    ['says what every object has', () => ({ status: 'constructor' as HealthStatus })],
    ['has details that are not JSON', () => ({ status: 'ok', details: { depth: 3n as never } })],
  ]
  test.each(bad)('%s is failing, is logged once, and hides no other', async (_, check) => {
    const { ask, faults } = health([{ name: 'bad', check }, says('good', 'ok')])
    const answer = await ask()
    expect(answer).toMatchObject({
      code: 503,
      checks: { bad: { status: 'failing', error: 'the check failed' }, good: { status: 'ok' } },
    })
    await ask()
    expect(faults).toEqual(['health check bad failed'])
    expect(JSON.stringify(answer)).not.toContain('secret')
  })

  test('is logged again when it has been well in between', async () => {
    const script = ['bad', 'bad', 'good', 'bad']
    const check = () => {
      if (script.shift() === 'bad') throw new Error('away')
      return { status: 'ok' as const }
    }
    const { ask, faults } = health([{ name: 'moody', check }])
    for (let n = 0; n < 4; n++) await ask()
    expect(faults).toHaveLength(2)
  })
})

describe('draining', () => {
  test('is reported at once, and takes no time without a watcher', async () => {
    const { drain, ask } = health()
    expect(await drain(30_000)).toBe(30_000)
    expect(await ask()).toMatchObject({ code: 503, status: 'draining' })
  })
  test('takes half of the grace period with a watcher, and returns the rest', async () => {
    const { drain, ask } = health()
    await ask()
    const at = performance.now()
    const draining = drain(200)
    expect(await ask()).toMatchObject({ code: 503, status: 'draining' })
    expect(await draining).toBe(100)
    expect(performance.now() - at).toBeGreaterThanOrEqual(95)
  })

  test('takes at most five seconds, and none if the last request is long ago', async () => {
    jest.useFakeTimers()
    try {
      const watched = health()
      await watched.ask()
      const draining = watched.drain(60_000)
      jest.advanceTimersByTime(5_000)
      expect(await draining).toBe(55_000)
      const forgotten = health()
      await forgotten.ask()
      jest.advanceTimersByTime(31_000)
      expect(await forgotten.drain(60_000)).toBe(60_000)
    } finally {
      jest.useRealTimers()
    }
  })
})
