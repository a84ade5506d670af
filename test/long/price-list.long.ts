import { expect, test } from 'bun:test'
import disagreements from '../../plugins/pricing-catalog/disagreements.json' with { type: 'json' }
import { pins, readSources } from '../../plugins/pricing-catalog/generate/fetch.ts'
import { generate, snapshotText } from '../../plugins/pricing-catalog/generate/main.ts'

test('the bundled price list is what the generator makes of the pinned packages', async () => {
  const made = generate(await readSources(pins), pins)
  const committed = new URL('../../plugins/pricing-catalog/snapshot.json', import.meta.url)
  expect(snapshotText(made.snapshot)).toBe(await Bun.file(committed).text())
  expect(made.disagreements).toEqual(disagreements as never)
}, 300_000)
