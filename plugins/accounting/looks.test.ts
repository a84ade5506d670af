import { afterEach, expect, spyOn, test } from 'bun:test'
import pino from 'pino'
import { eventually } from '../../test/harness/gateway.ts'
import { openSpool } from '../_shared/spool.ts'
import { createAccounting } from './accounting.ts'
import type { Changes, Snapshot } from './spend.ts'
import { CHANGES_KEPT_MS, NOTHING_SEEN, type Store } from './store.ts'
import { closeAll, temporaryFolder } from './testing.ts'

const log = pino({ level: 'silent' })

afterEach(() => closeAll())

/** Accounting whose database reads are answered by `answer`. */
function open(answer: (after: Snapshot) => Promise<Changes>) {
  const store = {
    writeLedger: async () => ({ transaction: 1n, duplicates: new Set<string>() }),
    claim: async () => new Set<string>(),
    release: async () => {},
    sweep: async () => {},
    readChanges: answer,
    ping: async () => {},
    tryLedger: async () => {},
  } satisfies Store
  return createAccounting({
    store,
    pricing: () => ({ resolve: () => ({ status: 'unpriced', reason: 'model_not_found' }) }),
    settings: () => ({ abortDrainMs: 0, commitTimeoutMs: 5000 }),
    openSpool: (adopted) =>
      openSpool({ directory: temporaryFolder(), name: 'ledger', log, adopted }),
    clock: { now: () => new Date('2026-04-01T12:00:00Z') },
    log,
    low: () => {},
  })
}

const nothingAt = (snapshot: Snapshot): Changes => ({ snapshot, budgets: [], counters: [] })

test('a read loads changes since the last one, or everything if their notes may be deleted', async () => {
  const asked: Snapshot[] = []
  const accounting = open(async (after) => {
    asked.push(after)
    return nothingAt(`${10 + asked.length}:${10 + asked.length}:`)
  })
  await accounting.refresh()
  await accounting.refresh()
  expect(asked).toEqual([NOTHING_SEEN, '11:11:'])
  const now = performance.now()
  const clock = spyOn(performance, 'now').mockImplementation(() => now + CHANGES_KEPT_MS + 1000)
  try {
    await accounting.refresh()
  } finally {
    clock.mockRestore()
  }
  expect(asked.at(-1)).toBe(NOTHING_SEEN)
  await accounting.close()
})

test('everything is reloaded after an outage, because a standby may lack the latest rows', async () => {
  const asked: Snapshot[] = []
  const answers: Promise<Changes>[] = []
  const accounting = open(async (after) => {
    asked.push(after)
    return (await answers[asked.length - 1]) ?? nothingAt('11:11:')
  })
  const isBack = () => eventually(async () => !accounting.status().away || undefined)
  await accounting.refresh()
  answers[1] = Promise.reject(new Error('the connection is lost'))
  await expect(accounting.refresh()).rejects.toThrow('lost')
  await isBack()
  await accounting.refresh()
  await accounting.refresh()
  expect(asked).toEqual([NOTHING_SEEN, '11:11:', NOTHING_SEEN, '11:11:'])
  await accounting.close()
})

test('reads run one after the other, and a failed one does not block the next', async () => {
  const answers = [Promise.withResolvers<Changes>(), Promise.withResolvers<Changes>()]
  let begun = 0
  // A data error, so the database counts as reachable.
  const fault = Object.assign(new Error('no number'), { code: '22P02' })
  const accounting = open(() => answers[begun++]?.promise ?? Promise.reject(fault))
  const looks = [accounting.refresh(), accounting.refresh()]
  await Bun.sleep(1)
  expect(begun).toBe(1)
  answers[0]?.reject(fault)
  await expect(looks[0]).rejects.toThrow('no number')
  answers[1]?.resolve(nothingAt('11:11:'))
  await looks[1]
  expect(begun).toBe(2)
  await accounting.close()
})
