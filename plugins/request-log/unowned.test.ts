import { expect, test } from 'bun:test'
import pino from 'pino'
import { exchange } from './testing.ts'
import { createUnowned } from './unowned.ts'

const refused = (errorCode: string, requestId: string = Bun.randomUUIDv7()) =>
  exchange({ principal: undefined, statusCode: 401, errorCode, requestId })

test('10,000 refusals are counted by code and logged once per code, without the key', () => {
  const lines: Record<string, unknown>[] = []
  const counts: Record<string, number> = {}
  const unowned = createUnowned({
    log: pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) }),
    counter: {
      add: (count, { error_code: code }) => {
        counts[code] = (counts[code] ?? 0) + count
      },
    },
  })
  unowned.add(refused('api_key_not_found', 'gwk_CANARYsecret42.CANARYsecret42'))
  for (let n = 1; n < 10_000; n++) unowned.add(refused('api_key_not_found'))
  unowned.add(refused('api_key_revoked'))
  unowned.report()
  unowned.report()
  unowned.add(refused('api_key_not_found'))

  expect(counts).toEqual({ api_key_not_found: 10_000 + 1, api_key_revoked: 1 })
  expect(lines.map(({ error_code, count }) => [error_code, count])).toEqual([
    ['api_key_not_found', undefined],
    ['api_key_revoked', undefined],
    ['api_key_not_found', 9_999],
    ['api_key_not_found', undefined],
  ])
  expect(lines[0]).toMatchObject({ status_code: 401, request_id: '[redacted]' })
  expect(JSON.stringify(lines)).not.toContain('CANARY')
})
