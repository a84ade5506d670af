import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeGoogleStream } from './google-content-frames.ts'

/** Texts with all that tells objects from each other, and what hides it. */
const text = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '{', '}', '[', ']', ',', 'ü', '\n'),
})
const objects = fc.array(
  fc.record({ text, list: fc.array(fc.record({ text }), { maxLength: 2 }) }),
  {
    minLength: 1,
    maxLength: 4,
  },
)

async function* cut(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function decoded(wire: string, size: number): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const batch of decodeGoogleStream(cut(new TextEncoder().encode(wire), size))) {
    for (const event of batch) found.push(event.json())
  }
  return found
}

test('an array yields its objects, with any texts, prefix and cuts', async () => {
  const property = fc.asyncProperty(
    objects,
    fc.constantFrom('', ' ', '\r\n\t', '\n\n'),
    fc.integer({ min: 1, max: 20 }),
    async (list, before, size) => {
      const wire = `${before}[${list.map((one) => JSON.stringify(one)).join('\n,\r\n')}\n]\n`
      expect(await decoded(wire, size)).toEqual(list)
    },
  )
  await fc.assert(property, { numRuns: 500 })
})
