import { expect, test } from 'bun:test'
import { createPlaces, MAX_KNOWN } from './places.ts'

function shared() {
  const rows = new Map<string, string>()
  let away = false
  const failures: unknown[] = []
  const replica = () =>
    createPlaces({
      store: {
        async find(key) {
          if (away) throw new Error('away')
          return rows.get(key)
        },
        async write(places) {
          if (away) throw new Error('away')
          for (const [key, place] of places) if (!rows.has(key)) rows.set(key, place)
        },
      },
      failed: (error) => void failures.push(error),
    })
  return {
    rows,
    failures,
    replica,
    setAway: (is: boolean) => {
      away = is
    },
  }
}

test('a replica finds the entries of another one, and the first entry stays', async () => {
  const { replica } = shared()
  const [one, other] = [replica(), replica()]
  one.note(['k'], 'a')
  one.note(['k'], 'b')
  expect(one.find('k')).toBe('a')
  expect(await other.find('k')).toBeUndefined()
  await one.flush()
  expect(await other.find('k')).toBe('a')
  expect(other.find('k')).toBe('a')
})

test('an unreachable store does not fail calls, and gets the entries afterwards', async () => {
  const { replica, rows, failures, setAway } = shared()
  const one = replica()
  setAway(true)
  one.note(['k'], 'a')
  await one.flush()
  expect(one.find('k')).toBe('a')
  expect(await one.find('other')).toBeUndefined()
  expect(failures).toHaveLength(2)
  setAway(false)
  await one.flush()
  expect([...rows]).toEqual([['k', 'a']])
})

test('memory is bounded: the most recently used entries stay', async () => {
  const { replica } = shared()
  const one = replica()
  one.note(['old', 'used'], 'a')
  await one.flush()
  for (let i = 0; i < MAX_KNOWN - 1; i++) {
    one.note([`k${i}`], 'b')
    if (i % 1_000 === 0) expect(one.find('used')).toBe('a')
  }
  expect(one.find('used')).toBe('a')
  expect(one.find('old')).toBeInstanceOf(Promise)
})
