/** The documentation site as it is built: its links, its search, and that it needs no network. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import MiniSearch from 'minisearch'
import { type Browser, chromium } from 'playwright-core'
import { guideFolder } from '../plugins/docs-site/guide.ts'
import { packProject } from '../test/harness/strangers.ts'
import { build } from './build.ts'
import { SITE_PACKAGES } from './notices.ts'

const ROOT = resolve(import.meta.dir, '..')
const BASE = '/docs/guide/'
const CHROMIUM =
  process.env.CHROMIUM ?? Bun.which('chromium-headless-shell') ?? Bun.which('chromium') ?? ''

let home: string
let names: readonly string[]
const text = (name: string) => readFileSync(join(guideFolder, name), 'utf8')

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'gateway-docs-site-'))
  // As root, the embedded Postgres runs under another account, which must be able to enter.
  chmodSync(home, 0o711)
  const script = [process.execPath, join(ROOT, 'plugins/docs-site/build.ts')]
  // Without any network where the system allows it.
  const alone = ['unshare', '--map-root-user', '--net']
  const isPossible = spawnSync(alone[0] as string, [...alone.slice(1), 'true']).status === 0
  const child = Bun.spawn(isPossible ? [...alone, ...script] : script, {
    cwd: ROOT,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const problem = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(problem)
  names = readdirSync(guideFolder, { recursive: true, encoding: 'utf8' })
}, 240_000)

afterAll(() => rmSync(home, { recursive: true, force: true }))

test('every page of docs/ is on the site, and in its navigation', () => {
  const pages = [...new Bun.Glob('**/*.md').scanSync(join(ROOT, 'docs'))].map((page) =>
    page.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html'),
  )
  expect(pages.length).toBeGreaterThan(30)
  const index = text('index.html')
  for (const page of pages) {
    expect(names).toContain(page)
    if (page === 'index.html') continue
    expect(index).toContain(`href="${BASE}${page.replace(/(?:index)?\.html$/, '')}"`)
  }
})

test('every link and every anchor leads somewhere', () => {
  const pages = names.filter((name) => name.endsWith('.html') && name !== '404.html')
  const ids = new Map(
    pages.map((page) => [
      page,
      new Set([...text(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  )
  const broken: string[] = []
  let links = 0
  for (const page of pages) {
    for (const [, href = ''] of text(page).matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      if (/^(?:https?|mailto):/.test(href)) continue
      links++
      const { pathname, hash } = new URL(href, `http://site${BASE}${page}`)
      const path = pathname.slice(BASE.length)
      const to =
        path === '' || path.endsWith('/')
          ? `${path}index.html`
          : path.replace(/(?:\.html)?$/, '.html')
      const anchor = decodeURIComponent(hash.slice(1))
      const isThere = ids.get(to)?.has(anchor || 'app')
      if (!pathname.startsWith(BASE) || isThere !== true) broken.push(`${page}: ${href}`)
    }
  }
  expect(links).toBeGreaterThan(1000)
  expect([...new Set(broken)]).toEqual([])
})

test('no page has a script or a style inside, or a file of another origin', () => {
  for (const name of names.filter((each) => each.endsWith('.html'))) {
    expect([name, text(name)]).toEqual([
      name,
      expect.not.stringMatching(
        /<style|<[^>]+ style="|<script(?![^>]* src="\/)|<(?:link|img)[^>]*="https?:/,
      ),
    ])
  }
})

test('THIRD_PARTY_NOTICES names the packages whose code is in the site', () => {
  expect(JSON.parse(text('packages.json'))).toEqual(SITE_PACKAGES)
})

test('search finds “budget exceeded”', async () => {
  const file = names.find((name) => /@localSearchIndexroot\..*\.js$/.test(name)) as string
  const { default: index } = await import(join(guideFolder, file))
  const search = MiniSearch.loadJSON(index, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
  })
  const found = search.search('budget exceeded', { combineWith: 'AND' }).map(({ id }) => id)
  expect(found.length).toBeGreaterThan(3)
  expect(found.some((id) => String(id).startsWith(`${BASE}errors`))).toBe(true)
  expect(found.some((id) => String(id).startsWith(`${BASE}budgets`))).toBe(true)
})

test('the package and the program have the site; a browser searches it without complaints', async () => {
  const tarball = await packProject(home)
  const packed = spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).stdout.split('\n')
  const missing = names.filter(
    (name) => /\.\w+$/.test(name) && !packed.includes(`package/plugins/docs-site/guide/${name}`),
  )
  expect(missing).toEqual([])

  const { gateway: program } = await build(join(home, 'release'), () => {})
  const child = Bun.spawn([program, 'serve', '--data-dir', join(home, 'data')], {
    cwd: home,
    env: { PATH: '/usr/bin:/bin', GATEWAY_BIND: '127.0.0.1:0' },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  let browser: Browser | undefined
  try {
    let log = ''
    let url: string | undefined
    for await (const chunk of child.stderr) {
      log += new TextDecoder().decode(chunk)
      url = /"url":"([^"]+)"/.exec(log)?.[1]
      if (url !== undefined) break
    }
    const types = {
      html: 'text/html',
      js: 'text/javascript',
      css: 'text/css',
      png: 'image/png',
      svg: 'image/svg+xml',
    }
    for (const name of names) {
      const type = types[name.slice(name.lastIndexOf('.') + 1) as keyof typeof types]
      if (type === undefined) continue
      const { status, headers } = await fetch(
        `${url}${BASE}${name.replace(/(?:index)?\.html$/, '')}`,
      )
      expect([name, status, headers.get('content-type')]).toEqual([
        name,
        200,
        expect.stringContaining(type),
      ])
    }
    expect(await (await fetch(`${url}/docs`)).text()).toContain('swagger')

    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox'],
      chromiumSandbox: false,
    })
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() !== 'log') complaints.push(message.text())
    })
    page.on('request', (request) => {
      if (!request.url().startsWith(`${url}/docs/guide`)) complaints.push(request.url())
    })
    await page.goto(`${url}/docs/guide`)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('budget exceeded')
    await page.getByRole('option').first().click()
    await page.waitForURL(/\/docs\/guide\/(?:tutorials\/)?\w+#?/)
    expect(await page.locator('main h1').count()).toBe(1)
    expect(complaints).toEqual([])
  } finally {
    await browser?.close()
    child.kill()
    await child.exited
  }
}, 240_000)
