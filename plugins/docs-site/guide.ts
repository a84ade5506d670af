import { join } from 'node:path'
import type { HttpRoute } from 'model-gateway/http'
import { GatewayError } from 'model-gateway/plugin'
import { readPageFiles } from '../_shared/page-files.ts'
import { type PageFile, pageRoutes } from '../_shared/pages.ts'

/** Where `build.ts` puts the site. */
export const guideFolder = join(import.meta.dir, 'guide')

const MOUNT = '/docs/guide'

/** `GET` of the site under `/docs/guide`; each path is 404 until the site has been built. */
export function guideRoutes(folder = guideFolder): readonly HttpRoute[] {
  let files: ReadonlyMap<string, PageFile> | undefined

  function find(path: string): PageFile | undefined {
    files ??= readPageFiles(folder, (name) => name.startsWith('assets/'))
    if (files === undefined) {
      const fix = 'run `bun run docs:site`'
      throw new GatewayError('not_found', `the documentation site has not been built: ${fix}`)
    }
    const page = path === '' || path.endsWith('/') ? `${path}index.html` : `${path}.html`
    return files.get(path) ?? files.get(page)
  }

  return pageRoutes({ mount: MOUNT, find }).map((route) => ({
    ...route,
    // The scripts of the site need the slash: they take the page from the part of the path behind it.
    handle: (call) => (call.url().pathname === MOUNT ? toFolder() : route.handle(call)),
  }))
}

const toFolder = () => new Response(null, { status: 308, headers: { location: `${MOUNT}/` } })
