import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Accounting, accounting, type ExtensionPoint } from 'model-gateway/plugin'
import pino from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { noTelemetry } from '../../test/harness/telemetry.ts'
import plugin from './index.ts'
import { call, migrations } from './testing.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('provides accounting, asks for prices only when it is used, and ends with nothing unwritten', async () => {
  const provided = new Map<string, unknown>()
  const tasks: (() => void | Promise<void>)[] = []
  let asked = 0
  const dispose = await plugin.setup({
    config: {},
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    ...noTelemetry,
    provide: (point, implementation) => provided.set(point.name, implementation),
    database: await database.forPlugin('plugin.accounting', migrations),
    schedule: { every: (_ms, task) => tasks.push(task) },
    clock: { now: () => new Date() },
    services: {
      all: () => [],
      one<T>(point: ExtensionPoint<T>): T {
        asked++
        expect(point.name).toBe('pricing_source')
        return { resolve: () => ({ status: 'unpriced', reason: 'model_not_found' }) } as T
      },
    },
  })
  expect([...provided.keys()]).toEqual(['accounting'])
  expect(asked).toBe(0)

  const service = provided.get(accounting.name) as Accounting
  const settled = [service.settle(call()), service.settle(call())]
  await dispose?.()
  const [row] = await database.sql`select count(*) as n from accounting.usage_cost_events`
  expect(row?.n).toBe(2n)
  expect(asked).toBe(1)
  await Promise.all(settled)
  for (const task of tasks) await task()
})
