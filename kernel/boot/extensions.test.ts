import { expect, test } from 'bun:test'
import { pino } from 'pino'
import {
  type ExchangeRecord,
  type ExchangeRecorder,
  httpRouteLists,
  httpRoutes,
} from '../plugin/index.ts'
import { httpRoutesOf, recordersOf } from './extensions.ts'

test('a plugin that fails to list its routes is named', () => {
  const routes = () => {
    throw new Error('planted')
  }
  const provided = (point: unknown) =>
    point === httpRouteLists ? [{ plugin: 'plugin.list', implementation: { routes } }] : []
  expect(() => httpRoutesOf({ provided } as never)).toThrow(
    'plugin "plugin.list" failed to list its routes: planted',
  )
})

test('of a route that two plugins serve, both are named, whatever its parameters are called', () => {
  const route = (path: string) => ({ method: 'GET' as const, path, handle: () => new Response() })
  const listed = [route('/things'), route('/things/:thing_id')]
  const registry = (one: string) => ({
    provided: (point: unknown) =>
      point === httpRoutes
        ? [{ plugin: 'plugin.acme', implementation: route(one) }]
        : point === httpRouteLists
          ? [{ plugin: 'plugin.list', implementation: { routes: () => listed } }]
          : [],
  })
  expect(httpRoutesOf(registry('/other') as never).map(({ path }) => path)).toEqual([
    '/other',
    '/things',
    '/things/:thing_id',
  ])
  expect(() => httpRoutesOf(registry('/things/:id') as never)).toThrow(
    'plugins "plugin.acme" and "plugin.list" both serve GET /things/:',
  )
})

test.each([
  [
    'throws',
    () => {
      throw new Error('planted')
    },
  ],
  ['is not a number', () => Number.NaN],
])('a recorder whose limit %s is logged and gets calls without events', (_, limit) => {
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
