import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dir, '../../..')
const PAGES = [
  'README.md',
  ...['docs', 'examples', 'plugins', 'kernel', 'providers', 'guardrail-packs', 'bench'].flatMap(
    (folder) =>
      [...new Bun.Glob('**/*.md').scanSync(join(ROOT, folder))].map((page) => join(folder, page)),
  ),
].filter((page) => !page.includes('node_modules') && !page.includes('/templates/'))

const texts = new Map<string, string>()
/** A page without its code, in which brackets are not links. */
function textOf(page: string): string {
  const known = texts.get(page)
  if (known !== undefined) return known
  const text = readFileSync(join(ROOT, page), 'utf8').replace(/^( *)```.*?^\1```$/gms, '')
  texts.set(page, text)
  return text
}

/** The anchors that GitHub and the documentation site give to the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )
  return new Set(headings)
}

/** The links of a page that lead nowhere in the repository. */
function brokenLinks(page: string): string[] {
  return [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, href = '']) => {
    if (/^(?:https?|mailto):/.test(href)) return []
    const [path = '', anchor] = href.split('#', 2)
    const to = path === '' ? page : join(dirname(page), path)
    const isThere = to === page || existsSync(join(ROOT, to))
    const hasAnchor = anchor === undefined || (to.endsWith('.md') && anchorsOf(to).has(anchor))
    return isThere && hasAnchor ? [] : [`${page}: ${href}`]
  })
}

test('every link and every anchor of the pages leads somewhere', () => {
  expect(PAGES.length).toBeGreaterThan(60)
  expect(PAGES.flatMap(brokenLinks)).toEqual([])
})

test('a link to a missing page or heading is found', () => {
  texts.set('docs/planted.md', '# A title\n\n[a](nowhere.md) [b](#a-title) [c](#another)\n')
  expect(brokenLinks('docs/planted.md')).toEqual([
    'docs/planted.md: nowhere.md',
    'docs/planted.md: #another',
  ])
})
