import { expect, test } from 'bun:test'
import { pino } from 'pino'
import { adminRoute, Type } from '../plugin/index.ts'
import { adminRoutesOf } from './extensions.ts'

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
