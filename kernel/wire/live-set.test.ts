import { edenGC } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { LiveSet } from './live-set.ts'

const UNDER_WAY = 32
const REQUESTS = 4000

/** How many requests are still in memory after all but the last ended and memory was collected. */
async function survivors(begin: (request: object) => () => void): Promise<number> {
  const all: WeakRef<object>[] = []
  const running: (() => void)[] = []
  for (let n = 1; n <= REQUESTS; n++) {
    const request = { body: new Array(50).fill(n) }
    all.push(new WeakRef(request))
    running.push(begin(request))
    if (running.length > UNDER_WAY) running.shift()?.()
    // What was looked at by a weak reference stays to the end of the turn.
    if (n % 200 === 0) await Bun.sleep(1)
    if (n % 400 === 0) edenGC()
  }
  await Bun.sleep(1)
  edenGC()
  return all.filter((reference) => reference.deref() !== undefined).length
}

test("a request that is over is freed by the next collection, and a Set's is not", async () => {
  const requests = new LiveSet<object>()
  const alive = await survivors((request) => {
    const place = requests.add(request)
    return () => requests.delete(place)
  })
  expect(requests.size).toBe(UNDER_WAY)
  expect(alive).toBeLessThan(REQUESTS / 4)
  const set = new Set<object>()
  const inSet = await survivors((request) => {
    set.add(request)
    return () => set.delete(request)
  })
  expect(inSet).toBeGreaterThan(REQUESTS / 2)
})

test('contains what was added and not deleted, also during iteration', () => {
  const letters = new LiveSet<string>()
  const places = ['a', 'b', 'c'].map((letter) => letters.add(letter))
  letters.delete(places[1] as number)
  letters.add('d')
  const seen: string[] = []
  for (const letter of letters) {
    seen.push(letter)
    if (letter === 'a') letters.delete(places[2] as number)
  }
  expect(seen).toEqual(['a', 'd'])
  expect(letters.size).toBe(2)
})
