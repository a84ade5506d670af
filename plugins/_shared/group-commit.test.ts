import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createGroupCommit } from './group-commit.ts'

/** A writer whose batches end when the test says so. */
function controlled(maxBatch = 100) {
  const batches: (PromiseWithResolvers<string> & { items: readonly number[] })[] = []
  const group = createGroupCommit<number, string>((items) => {
    const batch = { items, ...Promise.withResolvers<string>() }
    batches.push(batch)
    return batch.promise
  }, maxBatch)
  return { group, batches }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('group commit', () => {
  test('items of one task share a batch and its result', async () => {
    const { group, batches } = controlled()
    const added = Promise.all([group.add(1), group.add(2), group.add(3)])
    await turn()
    expect(batches.map((b) => b.items)).toEqual([[1, 2, 3]])
    batches[0]?.resolve('written')
    expect(await added).toEqual(['written', 'written', 'written'])
  })

  test('the next batch collects during a write', async () => {
    const { group, batches } = controlled()
    const first = group.add(1)
    await turn()
    const later = [group.add(2), group.add(3)]
    await turn()
    later.push(group.add(4))
    await turn()
    expect(batches.map((b) => b.items)).toEqual([[1]])
    batches[0]?.resolve('a')
    expect(await first).toBe('a')
    await turn()
    expect(batches.map((b) => b.items)).toEqual([[1], [2, 3, 4]])
    batches[1]?.resolve('b')
    expect(await Promise.all(later)).toEqual(['b', 'b', 'b'])
  })

  test('a promise does not resolve before its batch is written', async () => {
    const { group, batches } = controlled()
    let done = false
    const added = group.add(1).then(() => {
      done = true
    })
    await turn()
    expect(done).toBe(false)
    batches[0]?.resolve('')
    await added
    expect(done).toBe(true)
  })

  test('a failed batch rejects its own items only', async () => {
    const { group, batches } = controlled()
    const first = group.add(1)
    await turn()
    const second = group.add(2)
    batches[0]?.reject(new Error('lost'))
    await expect(first).rejects.toThrow('lost')
    await turn()
    batches[1]?.resolve('b')
    expect(await second).toBe('b')
  })

  test('a writer that throws at once rejects too', async () => {
    const group = createGroupCommit<number, void>(() => {
      throw new Error('broken')
    }, 10)
    await expect(group.add(1)).rejects.toThrow('broken')
    await expect(group.add(2)).rejects.toThrow('broken')
  })

  test('no batch is larger than allowed', async () => {
    const { group, batches } = controlled(2)
    const added = [1, 2, 3, 4, 5].map((n) => group.add(n))
    for (let i = 0; i < 3; i++) {
      await turn()
      batches[i]?.resolve(String(i))
    }
    expect(await Promise.all(added)).toEqual(['0', '0', '1', '1', '2'])
  })

  test('drained waits for all items, and returns at once when idle', async () => {
    const { group, batches } = controlled()
    await group.drained()
    const added = [group.add(1)]
    await turn()
    added.push(group.add(2))
    let drained = false
    const draining = group.drained().then(() => {
      drained = true
    })
    batches[0]?.resolve('')
    await turn()
    expect(drained).toBe(false)
    batches[1]?.resolve('')
    await draining
    await Promise.all(added)
  })

  test('with any timing, each item is written once, in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        async (pauses, maxBatch) => {
          const written: number[] = []
          let concurrent = 0
          const group = createGroupCommit<number, number>(async (items) => {
            expect(++concurrent).toBe(1)
            await turn()
            written.push(...items)
            concurrent--
            return written.length
          }, maxBatch)
          const added: Promise<number>[] = []
          for (const [n, pause] of pauses.entries()) {
            if (pause === 1) await Promise.resolve()
            if (pause > 1) await turn()
            added.push(group.add(n))
          }
          for (const [n, size] of (await Promise.all(added)).entries()) {
            expect(size).toBeGreaterThan(n)
          }
          expect(written).toEqual(pauses.map((_, n) => n))
        },
      ),
      { numRuns: 50 },
    )
  })
})
