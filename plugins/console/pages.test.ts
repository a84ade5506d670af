import { describe, expect, test } from 'bun:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createPluginRoutes } from '../../kernel/http/plugin-routes.ts'
import { type PageFile, pageRoutes } from './pages.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const page: PageFile = { type: 'text/html; charset=utf-8', body: bytes('<p>'), immutable: false }
const script: PageFile = {
  type: 'text/javascript; charset=utf-8',
  body: bytes('go()'),
  gzip: new Uint8Array(gzipSync('go()')),
  brotli: bytes('brotli of go()'),
  immutable: true,
}
const files = new Map([
  ['', page],
  ['app-1a2b.js', script],
  ['soon', { ...page, pending: true as const }],
])
const app = createPluginRoutes({
  httpRoutes: pageRoutes({ mount: '/pages', find: (path) => files.get(path) }),
  door: { requireOwnHost() {} },
  bodyLimits: { maxBytes: 0, timeoutMs: 0 },
  limitIdle() {},
  streams() {},
  limitAgain() {},
  fault: (_, error) => {
    throw error
  },
})

async function get(path: string, accept?: string): Promise<Response> {
  const headers = accept === undefined ? {} : { 'accept-encoding': accept }
  return await app.handle(new Request(`http://localhost${path}`, { headers }))
}

describe('a page', () => {
  test('lets nothing in but its own files, wherever its pages are shown', async () => {
    for (const path of ['/pages', '/pages/app-1a2b.js', '/pages/soon']) {
      const { headers } = await get(path)
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self';")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toContain('unsafe')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('same-origin')
    }
  })

  test('is kept for good where names change with the content, and asked for again elsewhere', async () => {
    expect((await get('/pages')).headers.get('cache-control')).toBe('no-cache')
    expect((await get('/pages/app-1a2b.js')).headers.get('cache-control')).toContain('immutable')
  })

  test('goes out compressed as the browser likes it', async () => {
    const plain = await get('/pages/app-1a2b.js')
    expect([await plain.text(), plain.headers.get('content-encoding')]).toEqual(['go()', null])
    expect(plain.headers.get('vary')).toBe('accept-encoding')

    const zipped = await get('/pages/app-1a2b.js', 'gzip, br;q=0.00')
    expect(zipped.headers.get('content-encoding')).toBe('gzip')
    expect(gunzipSync(await zipped.bytes()).toString()).toBe('go()')

    const small = await get('/pages/app-1a2b.js', 'gzip, deflate, br, zstd')
    expect(small.headers.get('content-encoding')).toBe('br')
    expect(await small.text()).toBe('brotli of go()')
  })

  test('says that a file is still being made, and has the browser ask again', async () => {
    const soon = await get('/pages/soon')
    expect([soon.status, soon.headers.get('refresh')]).toEqual([503, '1'])
    expect(soon.headers.get('cache-control')).toBe('no-store')
  })

  test('has a 404 for what it does not have', async () => {
    expect((await get('/pages/app-old.js')).status).toBe(404)
  })
})
