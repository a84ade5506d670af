import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PageFile } from './pages.ts'

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  png: 'image/png',
  svg: 'image/svg+xml',
}

/**
 * The files of a built site by their paths in its folder, with their gzip and Brotli forms, or
 * `undefined` when the folder does not exist. `isImmutable` says which names change with the content.
 */
export function readPageFiles(
  folder: string,
  isImmutable: (name: string) => boolean,
): ReadonlyMap<string, PageFile> | undefined {
  let names: string[]
  try {
    names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch {
    return undefined
  }
  const read = (name: string) => new Uint8Array(readFileSync(join(folder, name)))
  const present = new Set(names)
  const files = new Map<string, PageFile>()
  for (const name of names) {
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
    if (type === undefined) continue
    files.set(name, {
      type,
      body: read(name),
      ...(present.has(`${name}.gz`) && { gzip: read(`${name}.gz`) }),
      ...(present.has(`${name}.br`) && { brotli: read(`${name}.br`) }),
      immutable: isImmutable(name),
    })
  }
  return files
}
