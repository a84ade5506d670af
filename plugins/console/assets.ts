import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PageFile } from './pages.ts'

/** Where `build.ts` puts the bundle. */
export const distFolder = join(import.meta.dir, 'dist')

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The files of the bundle by name; `undefined` if it has not been built. */
export function readAssets(folder = distFolder): ReadonlyMap<string, PageFile> | undefined {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return undefined
  }
  const read = (name: string) => new Uint8Array(readFileSync(join(folder, name)))
  const present = new Set(names)
  const assets = new Map<string, PageFile>()
  for (const name of names) {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
    if (type === undefined) continue
    assets.set(name, {
      type,
      body: read(name),
      ...(present.has(`${name}.gz`) && { gzip: read(`${name}.gz`) }),
      ...(present.has(`${name}.br`) && { brotli: read(`${name}.br`) }),
      immutable: name !== 'index.html',
    })
  }
  return assets.has('index.html') ? assets : undefined
}
