import { expect } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { source as axeSource } from 'axe-core'
import type { Page } from 'playwright-core'
import { root } from './harness.ts'
import { textProblems } from './text-problems.ts'

/** Set it to anything to take screenshots. */
const TAKE = process.env.UPDATE_IMAGES !== undefined
/** Screenshots that the docs show, and the git-ignored folder of all others. */
const SHOWN = join(root, 'docs/images')
const OTHERS = join(root, 'dist/screenshots')

/** Maximum height of a screenshot in pixels, and how long charts take to redraw after a resize. */
const TALLEST = 2600
const SETTLE_MS = 300

/**
 * Checks a page in both themes: no serious finding of axe, no text that is cut off or overlaps
 * another, no raw id outside of `<code>`. With UPDATE_IMAGES it also takes the screenshots
 * `NAME-light.png` and `NAME-dark.png`: into `docs/images` if a file of that name is there, else into
 * `dist/screenshots`.
 */
export async function looksRight(page: Page, name: string): Promise<void> {
  // The page scrolls inside `#main`: make the window high enough to show all of it.
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
    expect({ name, theme, found: await axeFindings(page, theme) }).toEqual({
      name,
      theme,
      found: [],
    })
    if (theme === 'light') {
      expect({ name, found: await page.evaluate(textProblems) }).toEqual({ name, found: [] })
    }
    if (TAKE) {
      const file = `${name}-${theme}.png`
      const folder = existsSync(join(SHOWN, file)) ? SHOWN : OTHERS
      // Playwright creates the folder.
      await page.screenshot({ path: join(folder, file) })
    }
  }
  await page.setViewportSize(before)
}

type Theme = 'light' | 'dark'

/**
 * Serious and critical findings: the rule, the element and the reason. All rules run in the light
 * theme; the dark theme differs only in its colours.
 */
async function axeFindings(page: Page, theme: Theme): Promise<readonly string[]> {
  const isLoaded = await page.evaluate(() => 'axe' in window)
  if (!isLoaded) await page.evaluate(axeSource)
  return await page.evaluate(async (asked) => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') }
    const { violations } = await axe.run(document, {
      resultTypes: ['violations'],
      runOnly:
        asked === 'light'
          ? ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']
          : { type: 'rule', values: ['color-contrast'] },
    })
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ''}`),
      )
  }, theme)
}
