import { expect, test } from 'bun:test'
import pino from 'pino'
import { createReach } from './reach.ts'

const log = pino({ level: 'silent' })

test('what never ends is given up in the end, though the database answers others', async () => {
  let lost = 0
  let pings = 0
  const reach = createReach({ timeoutMs: () => 5, log, lost: () => lost++ })
  const never = () => new Promise<never>(() => {})
  const ping = async () => {
    pings += 1
  }
  await expect(reach.patiently(never, ping, 500)).rejects.toThrow('no answer within 500 ms')
  expect(pings).toBeGreaterThan(0)
  expect([reach.away, lost]).toEqual([true, 1])
})

test('a refused row tells nothing of the database, anything else that it is away, once', async () => {
  let losses = 0
  const reach = createReach({ timeoutMs: () => 5000, log, lost: () => void losses++ })
  const fail = (error: object) => reach.call(() => Promise.reject(error)).catch(() => {})
  await fail({ code: '22021' })
  expect([reach.away, losses]).toEqual([false, 0])
  await fail(new Error('broken'))
  await fail(new Error('broken'))
  expect([reach.away, losses]).toEqual([true, 1])
  await reach.probe(async () => {})
  expect(reach.away).toBe(false)
})
