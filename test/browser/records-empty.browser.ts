import { test } from 'bun:test'
import { testDesk } from './harness.ts'
import { looksRight } from './look.ts'

const desk = testDesk({ requests: 0 })

test('without requests the log says how they get there', async () => {
  const page = await desk.open('/requests')
  await page.getByText('No requests yet').waitFor()
  await page.getByText('Point a client at this gateway').waitFor()
  await page.getByText('0 requests, 0 errors').waitFor()
  await looksRight(page, 'requests-empty')
})

test('without a ledger the spend says how it fills', async () => {
  const page = await desk.open('/spend')
  await page.getByText('Nothing in the ledger yet').waitFor()
  await page.getByText('No rejected charges').waitFor()
  await looksRight(page, 'spend-empty')
  await page.getByRole('main').getByRole('link', { name: 'playground' }).click()
  await page.getByRole('heading', { name: 'Playground' }).waitFor()
})
