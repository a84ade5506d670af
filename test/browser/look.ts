import { expect } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { source as axeSource } from 'axe-core'
import type { Page } from 'playwright-core'
import { root } from './harness.ts'
import { textProblems } from './text-problems.ts'

/** If set, the pictures in `docs/images` are updated. */
const TAKE = process.env.UPDATE_IMAGES !== undefined

/** The maximum height of a picture, and how long charts take to resize. */
const TALLEST = 2600
const SETTLE_MS = 300

/**
 * Checks that every page has to pass, in both themes: no serious finding of axe, no text that is
 * cut off or overlaps another, no raw ID outside `<code>`. With UPDATE_IMAGES it takes the pictures
 * `docs/images/NAME-light.png` and `NAME-dark.png`.
 */
export async function looksRight(page: Page, name: string): Promise<void> {
  // Shows the whole page at once, because it scrolls inside its frame.
  const before = page.viewportSize() ?? { width: 1440, height: 900 }
  const height = await page.evaluate(() => {
    const main = document.querySelector('#main')
    return main === null ? 0 : window.innerHeight + main.scrollHeight - main.clientHeight
  })
  if (height > before.height) {
    await page.setViewportSize({ ...before, height: Math.min(height, TALLEST) })
    await page.waitForTimeout(SETTLE_MS)
  }
  for (const theme of ['light', 'dark'] as const) {
    await page.evaluate((value) => {
      document.documentElement.dataset.theme = value
    }, theme)
    await page.mouse.move(0, 0)
    expect({ name, theme, found: await axeFindings(page) }).toEqual({ name, theme, found: [] })
    if (theme === 'light') {
      expect({ name, found: await page.evaluate(textProblems) }).toEqual({ name, found: [] })
    }
    if (TAKE) {
      mkdirSync(join(root, 'docs/images'), { recursive: true })
      await page.screenshot({ path: join(root, `docs/images/${name}-${theme}.png`) })
    }
  }
  await page.setViewportSize(before)
}

/** Serious and critical findings: the rule, and where. */
async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource)
  return await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') }
    const { violations } = await axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'],
    })
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ''}`),
      )
  })
}
