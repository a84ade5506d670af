import { test } from 'bun:test'
import { testDesk } from './harness.ts'
import { looksRight } from './look.ts'

const desk = testDesk({ requests: 0 })

test('an empty gateway says what to do next', async () => {
  const page = await desk.open('/')
  await page.getByText('No requests yet').waitFor()
  await page.getByText('Point a client at this gateway').waitFor()
  await page.getByText('No attempts in the last 15 minutes').waitFor()
  await looksRight(page, 'overview-empty')
})
