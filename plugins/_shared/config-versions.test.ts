import { expect, test } from 'bun:test'
import { createConfigVersions } from './config-versions.ts'

test('keeps the last sixteen versions; others get the latest value', () => {
  const versions = createConfigVersions(0)
  for (let n = 1; n <= 16; n++) versions.accept(`v${n}`, n)
  expect(versions.of('v1')).toBe(1)
  expect(versions.of('unheard of')).toBe(16)
  // A rollback to the first version: it is the newest again.
  versions.accept('v1', 1)
  versions.accept('v17', 17)
  expect(versions.of('v1')).toBe(1)
  expect(versions.of('v2')).toBe(17)
  expect(versions.latest()).toBe(17)
})
