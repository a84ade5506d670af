import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createPluginRoutes } from '../../kernel/http/plugin-routes.ts'
import { guideRoutes } from './guide.ts'

const place = mkdtempSync(join(tmpdir(), 'docs-site-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))

const built = join(place, 'guide')
const names = ['index.html', 'budgets.html', 'providers/index.html', 'assets/app.1a2b.js']
for (const name of names) {
  mkdirSync(dirname(join(built, name)), { recursive: true })
  writeFileSync(join(built, name), name)
}

function serve(folder: string) {
  const app = createPluginRoutes({
    httpRoutes: guideRoutes(folder),
    door: { requireOwnHost() {} },
    bodyLimits: { maxBytes: 0, timeoutMs: 0 },
    limitIdle() {},
    streams() {},
    limitAgain() {},
    fault: (_, error) => {
      throw error
    },
  })
  return (path: string) => app.handle(new Request(`http://localhost/docs/guide${path}`))
}

test('pages are found without `.html`, and only names with a hash are cached for good', async () => {
  const get = serve(built)
  const served = await Promise.all(
    ['/', '/budgets', '/providers/', '/assets/app.1a2b.js'].map(async (path) => {
      const reply = await get(path)
      const { headers } = reply
      return [await reply.text(), headers.get('content-type'), headers.get('cache-control')]
    }),
  )
  const html = 'text/html; charset=utf-8'
  expect(served).toEqual([
    ['index.html', html, 'no-cache'],
    ['budgets.html', html, 'no-cache'],
    ['providers/index.html', html, 'no-cache'],
    ['assets/app.1a2b.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
  ])
  expect((await get('/budgets')).headers.get('content-security-policy')).toContain(
    "script-src 'self';",
  )
})

test('the address without a slash leads to the one with it', async () => {
  const { status, headers } = await serve(built)('')
  expect([status, headers.get('location')]).toEqual([308, '/docs/guide/'])
})

test('an unknown page is 404, and before the build each page says how to build', async () => {
  expect((await serve(built)('/nothing')).status).toBe(404)
  const reply = await serve(join(place, 'none'))('/budgets')
  expect(reply.status).toBe(404)
  expect(await reply.json()).toMatchObject({
    error: {
      code: 'not_found',
      message: 'the documentation site has not been built: run `bun run docs:site`',
    },
  })
})
