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
  test('allows only its own files in its Content-Security-Policy', async () => {
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

  test('is cached forever if its name changes with its content, and revalidated otherwise', async () => {
    expect((await get('/pages')).headers.get('cache-control')).toBe('no-cache')
    expect((await get('/pages/app-1a2b.js')).headers.get('cache-control')).toContain('immutable')
  })

  test('is compressed with the coding that the browser accepts', async () => {
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

  test('answers 503 while the console is being built, and lets the browser reload', async () => {
    const soon = await get('/pages/soon')
    expect([soon.status, soon.headers.get('refresh')]).toEqual([503, '1'])
    expect(soon.headers.get('cache-control')).toBe('no-store')
  })

  test('answers 404 for unknown files', async () => {
    expect((await get('/pages/app-old.js')).status).toBe(404)
  })
})
