import { expect, test } from 'bun:test'
import { picoUsd } from '../_shared/money.ts'
import { pieceUnits, rowsIn, type Sheet, type SnapshotFile, tokenUnits } from '../_shared/sheet.ts'
import committed from '../snapshot.json' with { type: 'json' }
import { snapshotText } from './main.ts'
import pins from './sources.json' with { type: 'json' }

const snapshot = committed as unknown as SnapshotFile
const read = (name: string) => Bun.file(new URL(`../${name}`, import.meta.url)).text()

test('the list has the pinned versions, which the notice names', async () => {
  const notice = await read('NOTICE')
  expect(snapshot.date).toBe(pins.date)
  for (const [name, { version, url }] of Object.entries(pins.sources)) {
    expect(snapshot.sources[name]).toBe(version)
    expect(notice).toContain(`${name} ${version} (${url})`)
  }
})

test('it is sorted, with one model per line, and every name has rows', async () => {
  expect(await read('snapshot.json')).toBe(snapshotText(snapshot))
  for (const models of Object.values(snapshot.providers)) {
    const names = Object.keys(models)
    expect(names).toEqual(names.toSorted((a, b) => (a < b ? -1 : 1)))
    expect(names.filter((name) => rowsIn(models, name).length === 0)).toEqual([])
  }
})

test('the ledger can store every price in it', () => {
  const units = [...tokenUnits, ...pieceUnits]
  const check = ({ long = [], ...prices }: Sheet) => {
    for (const each of [prices, ...long.map((tier) => tier.prices)]) {
      for (const unit of units) {
        const price = each[unit]
        if (price !== undefined) expect(picoUsd(unit, price)).toBeDefined()
      }
    }
  }
  for (const models of Object.values(snapshot.providers)) {
    for (const row of Object.keys(models).flatMap((name) => rowsIn(models, name))) {
      check(row)
      for (const tier of Object.values(row.tiers ?? {})) check(tier)
    }
  }
})
