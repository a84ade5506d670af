import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import type { PageFile } from '../_shared/pages.ts'
import { readAssets } from './assets.ts'
import { createConsolePages } from './site.ts'

/** The maximum size of the compressed scripts of a page, in bytes. */
const FIRST_VIEW_BYTES = 300_000

describe('the bundle', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'))
  const dist = join(folder, 'dist')
  let assets: ReadonlyMap<string, PageFile>

  beforeAll(async () => {
    // In a child process, because inside the test runner the bundler resolves the runner's modules.
    const script = `const { bundle } = await import(${JSON.stringify(join(import.meta.dir, 'bundle.ts'))}); await bundle(${JSON.stringify(dist)})`
    const child = Bun.spawn([process.execPath, '-e', script], {
      cwd: import.meta.dir,
      env: { ...process.env, NODE_ENV: 'production' },
      stderr: 'pipe',
    })
    const problem = await new Response(child.stderr).text()
    if ((await child.exited) !== 0) throw new Error(problem)
    assets = readAssets(dist) ?? new Map()
  }, 60_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const text = (name: string) => new TextDecoder().decode(assets.get(name)?.body)

  test('has one page, without inline scripts and styles', () => {
    const html = text('index.html')
    expect(html).toContain('src="/console/')
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/)
    expect(html).not.toContain('http')
  })

  test('has no source maps, and a compressed copy of each file', () => {
    expect(readdirSync(dist).filter((name) => name.endsWith('.map'))).toEqual([])
    for (const [name, file] of assets) {
      expect([name, brotliDecompressSync(file.brotli ?? new Uint8Array())]).toEqual([
        name,
        Buffer.from(file.body),
      ])
    }
    expect([...assets].filter(([, file]) => !file.immutable).map(([name]) => name)).toEqual([
      'index.html',
    ])
  })

  test('is split by page, and the scripts of each page stay small', () => {
    const scripts = [...assets.keys()].filter((name) => name.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(15)
    const entry = /src="\/console\/([^"]+\.js)"/.exec(text('index.html'))?.[1] as string
    const entryBytes = assets.get(entry)?.brotli?.length as number
    for (const name of scripts) {
      const own = name === entry ? 0 : (assets.get(name)?.brotli?.length as number)
      expect([name, entryBytes + own < FIRST_VIEW_BYTES]).toEqual([name, true])
    }
  })
})

describe('the console', () => {
  const file: PageFile = { type: 'text/html', body: new Uint8Array(), immutable: false }
  const bundle = new Map([
    ['index.html', file],
    ['a-1.js', { ...file, type: 'text/javascript' }],
  ])

  test('serves its page for every route of the app, and a 404 for files of another build', () => {
    const site = createConsolePages({ read: () => bundle, build: Promise.reject, failed() {} })
    for (const path of ['', 'requests', 'mcp/some.server/tools', 'sign-in']) {
      expect(site.find(path)).toBe(file)
    }
    expect(site.find('a-1.js')).toMatchObject({ type: 'text/javascript' })
    for (const path of ['a-0.js', 'A-0.JS', 'assets/a-1.js', 'assets/logo', 'requests/app.css']) {
      expect([path, site.find(path)]).toEqual([path, undefined])
    }
  })

  test('is built once in the background when it is missing', async () => {
    let built: ReadonlyMap<string, PageFile> | undefined
    const made = Promise.withResolvers<void>()
    let builds = 0
    const site = createConsolePages({
      read: () => built,
      build() {
        builds++
        return made.promise
      },
      failed() {},
    })
    site.prepare()
    expect(site.find('')).toMatchObject({ pending: true })
    expect(site.find('requests')).toMatchObject({ pending: true })
    built = bundle
    made.resolve()
    await Bun.sleep(0)
    expect([site.find(''), builds]).toEqual([file, 1])
  })

  test('says how to build it after a failed build, and does not retry with each request', async () => {
    const faults: unknown[] = []
    const site = createConsolePages({
      read: () => undefined,
      build: () => Promise.reject(new Error('no bundler')),
      failed: (error) => faults.push(error),
    })
    site.find('')
    await Bun.sleep(0)
    const page = (await site.find('')) as PageFile
    expect(new TextDecoder().decode(page.body)).toContain('bun run build:console')
    site.find('')
    await Bun.sleep(0)
    expect(faults).toEqual([new Error('no bundler')])
  })
})
