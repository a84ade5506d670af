import { afterEach, expect, test } from 'bun:test'
import pino from 'pino'
import { openSpool } from '../_shared/spool.ts'
import { createJournal } from './journal.ts'
import { createReach } from './reach.ts'
import { createRequestIds } from './request-ids.ts'
import { type LedgerRow, ledgerRow, usageMissing } from './row.ts'
import { createSpend } from './spend.ts'
import { call, closeAll, temporaryFolder } from './testing.ts'

const log = pino({ level: 'silent' })
const broken = () => Promise.reject(new Error('the connection broke'))

afterEach(() => closeAll())

/** A journal after an outage; `take` decides whether the database accepts rows. */
function open(take: (rows: readonly LedgerRow[]) => Promise<unknown>) {
  const written: string[] = []
  const store = {
    async writeLedger(rows: readonly LedgerRow[]) {
      await take(rows)
      written.push(...rows.map((row) => row.request_id))
      return { transaction: 1n, duplicates: new Set<string>() }
    },
    tryLedger: async () => {},
    ping: async () => {},
    claim: async () => new Set<string>(),
    release: async () => {},
  }
  const reach = createReach({
    timeoutMs: () => 5000,
    log,
    lost: () => void journal.startRecovery(),
  })
  const spool = openSpool({ directory: temporaryFolder(), name: 'ledger', log })
  const journal = createJournal({
    store,
    reach,
    spool: () => spool,
    spend: createSpend(),
    requestIds: createRequestIds({ store, reach, log }),
    log,
    replayed: async () => {},
  })
  const write = (requestId: string) => {
    const row = ledgerRow(call({ requestId }), usageMissing(), new Date(), [], undefined)
    return journal.write({ row, charge: undefined })
  }
  return { journal, reach, spool, write, written }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(5)
}

test('a database outage during the replay of the spool is recovered from', async () => {
  const outcomes = [
    broken,
    // Another call finds the database unreachable; these rows are written.
    async () => void (await reach.call(broken).catch(() => {})),
  ]
  const { journal, reach, spool, write, written } = open(async () => await outcomes.shift()?.())
  await write('x')
  await until(() => written.length > 0)
  await until(() => !reach.away)
  expect(spool.depth).toBe(0)
  await journal.close()
})

test('rows that are spooled during a replay are replayed, too', async () => {
  const outcomes = [
    broken,
    async () => {
      await reach.call(broken).catch(() => {})
      await write('y')
      await reach.probe(async () => {})
    },
  ]
  const { journal, reach, spool, write, written } = open(async () => await outcomes.shift()?.())
  await write('x')
  await until(() => written.length === 2)
  expect(written).toEqual(['x', 'y'])
  await until(() => spool.depth === 0)
  await journal.close()
})

test('a database outage while rows are written one by one loses none of them', async () => {
  const refused = Object.assign(new Error('the row is refused'), { code: '22P05' })
  const outcomes = [broken, () => Promise.reject(refused), broken]
  const { journal, spool, write, written } = open(async () => await outcomes.shift()?.())
  await Promise.all([write('x'), write('y')])
  await until(() => spool.depth === 0)
  expect(written).toEqual(['x', 'y'])
  await journal.close()
})
