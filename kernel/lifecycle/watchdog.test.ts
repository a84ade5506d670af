import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../plugin/index.ts'
import { createWatchdog } from './watchdog.ts'

const never = new Promise<never>(() => {})

describe('the watchdog of a provider call', () => {
  test('ends a call without an answer after the total limit', async () => {
    const dog = createWatchdog({ totalMs: 30, idleMs: 5000 })
    const error = await dog.guard(never).catch((e) => e)
    expect(error).toBeInstanceOf(GatewayError)
    expect(error.code).toBe('upstream_timeout')
    expect(error.message).toContain('30 ms')
    expect(dog.signal.aborted).toBe(true)
  })

  test('counts silence from the last sign of life once the answer has begun', async () => {
    const dog = createWatchdog({ totalMs: 60_000, idleMs: 400 })
    const started = performance.now()
    for (let i = 0; i < 6; i++) {
      dog.alive()
      // Far below the limit, because a busy machine may wake this late.
      await Bun.sleep(80)
      expect(dog.signal.aborted).toBe(false)
    }
    await dog.guard(never).catch(() => {})
    expect(performance.now() - started).toBeGreaterThanOrEqual(780)
  })

  test('ends a whole reply after the total limit, however often the provider sends something', async () => {
    const dog = createWatchdog({ totalMs: 150, idleMs: 5000 }, true)
    const sending = setInterval(dog.alive, 10)
    const cut = dog.guard(never).catch((error) => error.message)
    expect(await Promise.race([cut, Bun.sleep(2000)])).toContain('finish its reply within 150 ms')
    clearInterval(sending)
  })

  test('counts it from an answer that came later than the idle limit, too', async () => {
    const dog = createWatchdog({ totalMs: 60_000, idleMs: 50 })
    await Bun.sleep(80)
    dog.alive()
    const cut = dog.guard(never).catch((error) => error.message)
    expect(await Promise.race([cut, Bun.sleep(2000)])).toContain('sent nothing for 50 ms')
  })

  test('does not count the time in which nothing is asked of the provider', async () => {
    const dog = createWatchdog({ totalMs: 60_000, idleMs: 50 })
    dog.alive()
    dog.rest()
    await Bun.sleep(150)
    expect(dog.signal.aborted).toBe(false)
    const asked = performance.now()
    const cut = await dog.guard(never).catch((error) => error.message)
    expect(cut).toContain('sent nothing for 50 ms')
    expect(performance.now() - asked).toBeGreaterThanOrEqual(45)
  })

  test('hands results and errors through, and stays quiet when stopped', async () => {
    const dog = createWatchdog({ totalMs: 20, idleMs: 20 })
    expect(await dog.guard(Promise.resolve(7))).toBe(7)
    expect(await dog.guard(Promise.reject(new Error('x'))).catch((e) => e.message)).toBe('x')
    dog.stop()
    await Bun.sleep(40)
    expect(dog.signal.aborted).toBe(false)
  })

  test('a provider that ignores the abort does not block, and its late error is ignored', async () => {
    const dog = createWatchdog({ totalMs: 10_000, idleMs: 10_000 })
    const late = Bun.sleep(20).then(() => Promise.reject(new Error('late')))
    const guarded = dog.guard(late).catch((e) => e.message)
    dog.abort(new GatewayError('upstream_transport', 'gone'))
    expect(await guarded).toBe('gone')
    await Bun.sleep(40)
    expect(await dog.guard(Promise.resolve(1)).catch((e) => e.message)).toBe('gone')
    dog.stop()
  })
})
