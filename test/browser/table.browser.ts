import { expect, test } from 'bun:test'
import { testDesk } from './harness.ts'

const ROWS = 10_000
const STEPS = 120
/** Pixels per frame, like fast scrolling by touch. */
const STEP = 300
/** A frame of this length visibly stutters. */
const STUCK_MS = 100
/** Retried if a frame is slow, because other processes share the machine. */
const ROUNDS = 3

const desk = testDesk({ requests: 0 })

test('a list with several pages says that sorting applies to the current page', async () => {
  const page = await desk.open('/identity/users')
  const note = page.getByText('Sorted within this page')
  const byName = page.getByRole('button', { name: 'Name', exact: true })
  await byName.click()
  expect(await note.count()).toBe(0)

  await page.route('**/api/v1/admin/users?*', async (route) => {
    const response = await route.fetch()
    const body = (await response.json()) as { data: { total: number } }
    await route.fulfill({ response, json: { ...body, data: { ...body.data, total: 500 } } })
  })
  await page.reload()
  await byName.click()
  await note.waitFor()
})

test('a table of 10,000 rows scrolls smoothly and renders only visible rows', async () => {
  const page = await desk.open('/me/api-keys')
  // One response with more models than the gateway returns per page.
  await page.route('**/api/v1/admin/models?*', async (route) => {
    const response = await route.fetch()
    const body = (await response.json()) as { data: { items: object[]; total: number } }
    const [first] = body.data.items
    const items = Array.from({ length: ROWS }, (_, n) => ({ ...first, model_key: `model-${n}` }))
    await route.fulfill({ response, json: { ...body, data: { ...body.data, items } } })
  })
  await page.getByRole('link', { name: 'Models' }).waitFor({ state: 'attached' })
  await page.evaluate(() => document.querySelector<HTMLElement>('a[href$="/models"]')?.click())
  await page.getByText('model-0', { exact: true }).waitFor()

  const scroll = () =>
    page.evaluate(
      async ({ steps, pixels }) => {
        const table = document.querySelector('[role=table]') as HTMLElement
        const scroller = table.parentElement as HTMLElement
        const frame = () => new Promise<number>((done) => requestAnimationFrame(done))
        const frames: number[] = []
        let most = 0
        let last = await frame()
        for (let step = 1; step <= steps; step++) {
          scroller.scrollTop = pixels * step
          const now = await frame()
          frames.push(now - last)
          last = now
          most = Math.max(most, table.querySelectorAll('[role=row]').length)
        }
        const sorted = frames.toSorted((a, b) => a - b)
        const p95 = sorted[Math.floor(steps * 0.95)] as number
        scroller.scrollTop = scroller.scrollHeight
        return { median: sorted[steps / 2], p95, most, count: table.getAttribute('aria-rowcount') }
      },
      { steps: STEPS, pixels: STEP },
    )
  let seen = await scroll()
  for (let round = 1; round < ROUNDS && seen.p95 >= STUCK_MS; round++) seen = await scroll()
  console.log(
    `${ROWS} rows: median frame ${seen.median?.toFixed(1)} ms, p95 ${seen.p95.toFixed(1)} ms, at most ${seen.most} rows on the page`,
  )
  expect(seen.count).toBe(String(ROWS + 1))
  expect(seen.most).toBeLessThan(100)
  expect(seen.p95).toBeLessThan(STUCK_MS)
  await page.getByText(`model-${ROWS - 1}`, { exact: true }).waitFor()
})
