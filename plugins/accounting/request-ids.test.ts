import { expect, test } from 'bun:test'
import pino from 'pino'
import { createReach } from './reach.ts'
import { createRequestIds } from './request-ids.ts'
import type { Claim } from './store.ts'
import { call } from './testing.ts'

const log = pino({ level: 'silent' })
const chosen = call({ requestId: 'x', callerChoseRequestId: true })

/** Request ids with a database that can become unreachable, and its claims. */
function open() {
  const inDatabase = new Set<string>()
  const released: string[] = []
  const reach = createReach({ timeoutMs: () => 5000, log, lost: () => {} })
  const ids = createRequestIds({
    store: {
      async claim(claims: readonly Claim[]) {
        for (const { claim_id } of claims) inDatabase.add(claim_id)
        return new Set(claims.map(({ claim_id }) => claim_id))
      },
      async release({ claim_id }: Claim) {
        released.push(claim_id)
        inDatabase.delete(claim_id)
      },
    },
    reach,
    log,
  })
  const goAway = () => reach.call(() => Promise.reject(new Error('broken'))).catch(() => {})
  const comeBack = () => reach.probe(async () => {})
  return { ids, inDatabase, released, goAway, comeBack }
}

test('the id of a call that ended during an outage is released once', async () => {
  const { ids, inDatabase, released, goAway, comeBack } = open()
  await ids.claim(chosen)
  await goAway()
  await ids.release(chosen)
  expect(inDatabase.size).toBe(1)
  await comeBack()
  await ids.releaseLate()
  expect(inDatabase.size).toBe(0)
  await ids.releaseLate()
  expect(released).toHaveLength(1)
})

test('a call that reuses an id before its release releases both', async () => {
  const { ids, inDatabase, goAway, comeBack } = open()
  await ids.claim(chosen)
  await goAway()
  await ids.release(chosen)
  await ids.claim(chosen)
  await ids.releaseLate()
  expect(inDatabase.size).toBe(1)
  await ids.release(chosen)
  await comeBack()
  await ids.releaseLate()
  expect(inDatabase.size).toBe(0)
})
