import { join } from 'node:path'
import { readPageFiles } from '../_shared/page-files.ts'
import type { PageFile } from '../_shared/pages.ts'

/** Where `build.ts` puts the bundle. */
export const distFolder = join(import.meta.dir, 'dist')

/** The files of the bundle by name; `undefined` if it has not been built. */
export function readAssets(folder = distFolder): ReadonlyMap<string, PageFile> | undefined {
  const files = readPageFiles(folder, (name) => name !== 'index.html')
  return files?.has('index.html') ? files : undefined
}
