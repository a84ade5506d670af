import { expect, test } from 'bun:test'
import pino from 'pino'
import { createReach } from './reach.ts'

test('what never ends is given up in the end, though the database answers others', async () => {
  let lost = 0
  let pings = 0
  const log = pino({ level: 'silent' })
  const reach = createReach({ timeoutMs: () => 5, log, lost: () => lost++ })
  const never = () => new Promise<never>(() => {})
  const ping = async () => {
    pings += 1
  }
  await expect(reach.patiently(never, ping, 500)).rejects.toThrow('no answer within 500 ms')
  expect(pings).toBeGreaterThan(0)
  expect([reach.away, lost]).toEqual([true, 1])
})
