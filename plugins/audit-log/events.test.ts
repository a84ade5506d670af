import { beforeEach, expect, test } from 'bun:test'
import type { AuditEntry } from 'model-gateway/admin'
import { createEvents, type Events, type NotedEntry } from './events.ts'

let at: number
let away: boolean
let written: NotedEntry[]
let told: NotedEntry[]
let counted: Record<string, number>
let lost: number
let events: Events
beforeEach(() => {
  at = 0
  away = false
  written = []
  told = []
  counted = {}
  lost = 0
  events = createEvents({
    now: () => at,
    async write(entries) {
      if (away) throw new Error('away')
      written.push(...entries)
    },
    counter: {
      add(count, { action, outcome }) {
        counted[`${action} ${outcome}`] = (counted[`${action} ${outcome}`] ?? 0) + count
      },
    },
    tell: (entry) => told.push(entry),
    lost: (count) => (lost += count),
  })
})

const refusal = (objectId: string, address = '192.0.2.1'): AuditEntry => ({
  actor: undefined,
  requestId: 'r',
  action: 'auth.sign_in_refused',
  outcome: 'invalid_credentials',
  objectKind: 'user',
  objectId,
  address,
})
const brief = (entries: readonly NotedEntry[]) =>
  entries.map(({ objectId, address, occurrences }) => [objectId, address, occurrences])

test('the first event is written at once, and its repeats together after a minute', async () => {
  for (let i = 0; i < 500; i++) events.note(refusal('ada'))
  events.note(refusal('ada', '192.0.2.2'))
  await events.flush('due')
  expect(brief(written)).toEqual([
    ['ada', '192.0.2.1', 1],
    ['ada', '192.0.2.2', 1],
  ])
  at = 60_000
  await events.flush('due')
  expect(brief(written.slice(2))).toEqual([['ada', '192.0.2.1', 499]])
  expect(told).toEqual(written)
  events.note(refusal('ada'))
  await events.flush('due')
  expect(written).toHaveLength(4)
})

test('a flood of refusals takes few entries, which count all events and hide no success', async () => {
  for (let i = 0; i < 10_000; i++) events.note(refusal('unknown', `198.51.${i % 100}.${i % 256}`))
  const signIn = { ...refusal('ada'), action: 'auth.sign_in', outcome: 'success' } as const
  events.note(signIn)
  await events.flush('all')
  expect(written.length).toBeLessThanOrEqual(2 * 21 + 1)
  expect(written.filter(({ action }) => action === 'auth.sign_in')).toHaveLength(1)
  const refused = written.filter(({ action }) => action !== 'auth.sign_in')
  expect(refused.reduce((sum, { occurrences }) => sum + occurrences, 0)).toBe(10_000)
  expect(refused.some(({ objectId }) => objectId === 'several')).toBe(true)
  expect(counted).toEqual({
    'auth.sign_in_refused invalid_credentials': 10_000,
    'auth.sign_in success': 1,
  })
})

test('entries wait for an unreachable database, up to a limit', async () => {
  away = true
  for (let i = 0; i < 1_100; i++) {
    events.note(refusal('ada'))
    at += 60_000
    await events.flush('due').catch(() => {})
  }
  away = false
  await events.flush('due')
  expect(written).toHaveLength(1_000)
  expect(lost).toBe(100)
})
