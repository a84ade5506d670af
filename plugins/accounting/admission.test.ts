import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import {
  call,
  closeAll,
  empty,
  migrations,
  openAccounting,
  serviceAccount,
  user,
} from './testing.ts'

let database: TestDatabase
let open: () => ReturnType<typeof openAccounting>

beforeAll(async () => {
  database = await createTestDatabase()
  const capability = await database.forPlugin('plugin.accounting', migrations)
  open = () => openAccounting(capability)
})
afterAll(() => database.drop())
afterEach(async () => {
  await closeAll()
  await empty(database.sql)
})

const chosen = (requestId: string, changes: Parameters<typeof call>[0] = {}) =>
  call({ requestId, callerChoseRequestId: true, ...changes })
const duplicate = { code: 'invalid_request', status: 400 }
const claims = async () => [
  ...(await database.sql`select request_id from accounting.request_claims`),
]

test('a generated id is admitted synchronously, without a claim', async () => {
  expect(open().admit(call())).toBeUndefined()
  expect(await claims()).toEqual([])
})

test('an id is refused while its call is running, and when it is in the ledger', async () => {
  const { admit, settle } = open()
  await admit(chosen('x'))
  await expect(admit(chosen('x'))).rejects.toMatchObject(duplicate)
  await settle(chosen('x'))
  await expect(admit(chosen('x'))).rejects.toMatchObject(duplicate)
  await database.sql`truncate accounting.request_claims`
  await expect(open().admit(chosen('x'))).rejects.toMatchObject(duplicate)
})

test('an id is refused if only a rejected charge has it', async () => {
  const { admit, settle } = open()
  await settle(chosen('x'))
  await settle(chosen('x'))
  await database.sql`truncate accounting.usage_cost_events`
  await expect(admit(chosen('x'))).rejects.toMatchObject(duplicate)
})

test('the id of a call without a row can be used again', async () => {
  const { admit, settle } = open()
  const failed = chosen('x', { usage: undefined, succeeded: false })
  await admit(failed)
  expect(await settle(failed)).toEqual({ kind: 'none' })
  expect(await claims()).toEqual([])
  await admit(chosen('x'))
})

test('a generated id is in use while its call is running', async () => {
  const { admit, settle } = open()
  expect(admit(call({ requestId: 'made' }))).toBeUndefined()
  await expect(admit(chosen('made'))).rejects.toMatchObject(duplicate)
  await admit(chosen('made', { principal: user('u2') }))
  await settle(call({ requestId: 'made' }))
  await expect(admit(chosen('made'))).rejects.toMatchObject(duplicate)
})

test('a generated id can be used if its call left no row', async () => {
  const { admit, settle } = open()
  await admit(call({ requestId: 'made' }))
  await settle(call({ requestId: 'made', usage: undefined, succeeded: false }))
  await admit(chosen('made'))
})

test('a call without a row releases only its id', async () => {
  const { admit, settle } = open()
  const failed = chosen('x', { usage: undefined, succeeded: false })
  await admit(failed)
  await admit(chosen('y'))
  await admit(chosen('x', { principal: user('u2') }))
  await settle(failed)
  expect((await claims()).map(({ request_id }) => request_id).sort()).toEqual(['x', 'y'])
  await expect(open().admit(chosen('y'))).rejects.toMatchObject(duplicate)
})

test('an id that another instance released can be used by one that refused it', async () => {
  const [one, two] = [open(), open()]
  const failed = chosen('x', { usage: undefined, succeeded: false })
  await one.admit(failed)
  await expect(two.admit(chosen('x'))).rejects.toMatchObject(duplicate)
  await one.settle(failed)
  await two.admit(chosen('x'))
})

test('nothing is kept in memory of a call whose row is in the database', async () => {
  const { admit, settle } = open()
  await admit(chosen('x'))
  await settle(chosen('x'))
  await admit(call({ requestId: 'made' }))
  await settle(call({ requestId: 'made' }))
  // Now only the database refuses them.
  await empty(database.sql)
  await admit(chosen('x'))
  await admit(chosen('made'))
})

test('another owner may use the same id', async () => {
  const { admit } = open()
  await admit(chosen('x'))
  await admit(chosen('x', { principal: user('u2') }))
  await admit(chosen('x', { principal: serviceAccount('u1') }))
})

test('of many concurrent calls on two instances, one is admitted', async () => {
  const instances = [open(), open()]
  for (let round = 0; round < 10; round++) {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => instances[i % 2]?.admit(chosen(`round-${round}`))),
    )
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(refused).toHaveLength(19)
    for (const { reason } of refused) expect(reason).toMatchObject(duplicate)
  }
})

test('concurrent calls with different ids are all admitted', async () => {
  const { admit } = open()
  await Promise.all(Array.from({ length: 100 }, (_, i) => admit(chosen(`id-${i}`))))
  expect(await claims()).toHaveLength(100)
})

test('claims of dead processes are deleted when they expire', async () => {
  const { admit, store } = open()
  await admit(chosen('old'))
  await admit(chosen('young'))
  await store.sweep()
  expect(await claims()).toHaveLength(2)
  await database.sql`update accounting.request_claims set expires_at = now() - interval '1 second'
    where request_id = 'old'`
  await store.sweep()
  expect(await claims()).toEqual([{ request_id: 'young' }])
  await open().admit(chosen('old'))
})

test('change notes are deleted when no process can need them any more, and not before', async () => {
  const { settle, store } = open()
  await settle(call())
  const left = async (minutes: number) => {
    await database.sql`update accounting.counter_changes
      set changed_at = now() - ${minutes}::int * interval '1 minute'`
    await store.sweep()
    return (await database.sql`select 1 from accounting.counter_changes`).length
  }
  expect(await left(6)).toBe(1)
  expect(await left(11)).toBe(0)
})
