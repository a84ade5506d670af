import { expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import pino from 'pino'
import { createRoom } from '../_shared/room.ts'
import { createTally } from '../_shared/tally.ts'
import { createIntake } from './intake.ts'
import type { Row } from './row.ts'
import { policy } from './testing.ts'

/** An intake with room for one payload. */
function open() {
  const log = pino({ level: 'silent' })
  const rows: Row[] = []
  let refuses = false
  const shed = createTally({ log, name: 'shed', message: 'shed' })
  const intake = createIntake({
    room: createRoom(1_500),
    push: (row) => void rows.push(row),
    refuses: () => refuses,
    shed,
    log,
  })
  let count = 0
  return {
    ...intake,
    shed,
    /** Adds a payload of a thousand characters, or another one. */
    give(body: JsonObject = { text: 'x'.repeat(1_000) }) {
      const headers = { 'content-length': '1000' }
      const response = { kind: 'buffered', body: {} } as const
      const json = `{"n":${count++}}`
      intake.add({ occurredAt: 0, json }, { headers, body, response, usage: undefined }, policy())
    },
    refuse(so: boolean) {
      refuses = so
    },
    /** Whether each row that was passed on has its payload, in order. */
    handedOn: () => rows.map(({ json, payload }) => [JSON.parse(json).n, payload !== undefined]),
  }
}

test('encoded payloads make room for others', () => {
  const intake = open()
  for (let n = 0; n < 3; n++) {
    intake.give()
    expect(intake.waiting()).toBe(1)
    intake.flush()
  }
  expect(intake.handedOn()).toEqual([0, 1, 2].map((n) => [n, true]))
  expect(intake.shed.total).toBe(0)
})

test('a row without room passes at once, without its payload', () => {
  const intake = open()
  intake.give()
  intake.give()
  intake.flush()
  expect(intake.handedOn()).toEqual([
    [1, false],
    [0, true],
  ])
  expect(intake.shed.total).toBe(1)
})

test('payloads that would be dropped anyway take no room', () => {
  const intake = open()
  intake.refuse(true)
  for (let n = 0; n < 3; n++) intake.give()
  intake.refuse(false)
  intake.give()
  intake.flush()
  expect(intake.handedOn()).toEqual([0, 1, 2, 3].map((n) => [n, n === 3]))
})

test('a payload that cannot be encoded loses neither its row, nor room, nor later rows', () => {
  const intake = open()
  const broken = {
    get a(): string {
      throw new Error('cannot be read')
    },
  }
  intake.give(broken)
  intake.flush()
  intake.give()
  intake.flush()
  expect(intake.handedOn()).toEqual([
    [0, false],
    [1, true],
  ])
  expect(intake.shed.total).toBe(1)
})
