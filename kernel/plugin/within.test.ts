import { expect, test } from 'bun:test'
import { within } from './within.ts'

test('work is given up at once when the signal had aborted before', async () => {
  const reason = new Error('over')
  const given = within(new Promise<never>(() => {}), AbortSignal.abort(reason))
  expect(await Promise.race([given.catch((error) => error), Bun.sleep(500)])).toBe(reason)
})
