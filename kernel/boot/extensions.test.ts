import { expect, test } from 'bun:test'
import { pino } from 'pino'
import {
  type AdminRoute,
  adminRoute,
  type ExchangeRecord,
  type ExchangeRecorder,
  strictObject,
  Type,
} from '../plugin/index.ts'
import { adminRoutesOf, recordersOf } from './extensions.ts'

const facts = { tag: 'me', summary: 'Things.', audience: 'anyone', result: Type.Null() } as const
const routes = [
  adminRoute({
    ...facts,
    method: 'GET',
    path: '/api/v1/me/hangs',
    handle: () => new Promise<null>(() => {}),
  }),
  adminRoute({ ...facts, method: 'GET', path: '/api/v1/me/ends', handle: () => null }),
]
const provided = () => [{ plugin: 'plugin.acme', implementation: { id: 'acme', routes } }]

test('an admin route that hangs is given up and named; the others answer', async () => {
  const log = pino({ level: 'silent' })
  const [hangs, ends] = adminRoutesOf({ provided: provided as never }, log, 50)
  const call = {} as never
  const given = (async () => hangs?.handle(call))()
  await expect(given).rejects.toThrow(
    'GET /api/v1/me/hangs of plugin "plugin.acme" did not finish within 50 ms',
  )
  expect(await ends?.handle(call)).toBe(null)
})

test('an admin route may be an object of a class: who may call it, and with what, is not lost', async () => {
  class Route implements AdminRoute {
    readonly #data = 'kept'
    readonly method = 'POST'
    readonly path = '/api/v1/admin/things'
    readonly tag = 'admin'
    readonly summary = 'Things.'
    readonly result = Type.String()
    readonly body = strictObject({})
    get audience() {
      return 'platform_admin' as const
    }
    get status() {
      return 201 as const
    }
    handle() {
      return this.#data
    }
  }
  const own = new Route()
  const modules = () => [{ plugin: 'plugin.acme', implementation: { id: 'acme', routes: [own] } }]
  const log = pino({ level: 'silent' })
  const [route] = adminRoutesOf({ provided: modules as never }, log)
  const { method, path, body, result } = own
  expect(route).toMatchObject({ method, path, body, result })
  expect(route).toMatchObject({ audience: 'platform_admin', status: 201 })
  expect(await route?.handle({} as never)).toBe('kept')
})

test.each([
  [
    'throws',
    () => {
      throw new Error('planted')
    },
  ],
  ['is no number', () => Number.NaN],
])('a recorder whose limit %s gets no events, is logged, and is told of calls', (_, limit) => {
  const lines: { plugin: string }[] = []
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) })
  let told = 0
  const implementation: ExchangeRecorder = { streamEventLimit: limit, record: () => void told++ }
  const recorders = () => [{ plugin: 'plugin.acme', implementation }]
  const [recorder] = recordersOf({ provided: recorders as never }, log)
  expect(recorder?.streamEventLimit?.()).toBe(0)
  expect(lines).toMatchObject([{ plugin: 'plugin.acme', msg: 'a recorder failed' }])
  recorder?.record({ requestId: 'r1' } as ExchangeRecord)
  expect(told).toBe(1)
})
