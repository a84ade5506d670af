import { expect, test } from 'bun:test'
import { availableParallelism, loadavg } from 'node:os'
import type { Page } from 'playwright-core'
import { testDesk } from '../browser/harness.ts'
import { MEASURED, REQUESTS, rounds } from './size.ts'

/**
 * How soon pages of the console are complete over much traffic:
 *
 *     GATEWAY_LONG_REQUESTS=1000000 bun test ./test/long/console.long.ts
 *
 * GATEWAY_LONG_DATABASE is the URL of a database that has been filled before.
 */
const ROUNDS = rounds(5)
const LIMIT_MS = 1000

const paths = [
  '/',
  '/?range=31d',
  '/requests',
  '/spend',
  '/spend?days=30',
  '/budgets',
  '/leaderboard',
  '/leaderboard?range=31d',
  '/harness-usage?range=31d',
  '/mcp',
  '/guardrails',
  '/models',
  '/providers',
  '/identity/users',
  '/identity/teams',
  '/identity/service-accounts',
  '/identity/api-keys',
  '/me/usage',
]

const desk = testDesk({
  requests: REQUESTS,
  traffic: false,
  databaseUrl: process.env.GATEWAY_LONG_DATABASE,
})

/** Milliseconds from the address to a page on which nothing is being loaded. */
async function complete(page: Page, url: string): Promise<number> {
  const start = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await page.locator('#main h1').waitFor()
  await page.locator('[aria-label="Loading"]').first().waitFor({ state: 'detached' })
  return performance.now() - start
}

test('every page is complete within a second', async () => {
  const page = await desk.open('/me/api-keys')
  const base = page.url().replace(/\/me\/api-keys$/, '')
  const rows: Record<string, { median: number; longest: number }> = {}
  for (const path of paths) {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round++) times.push(await complete(page, base + path))
    times.sort((a, b) => a - b)
    rows[path] = {
      median: Math.round(times[Math.floor(ROUNDS / 2)] as number),
      longest: Math.round(times.at(-1) as number),
    }
  }
  console.log(`${REQUESTS} requests, load ${loadavg()[0]?.toFixed(1)} of ${availableParallelism()}`)
  console.table(rows)
  const slow = Object.entries(rows).filter(([, { median }]) => median > LIMIT_MS)
  if (MEASURED) expect(slow).toEqual([])
}, 600_000)
