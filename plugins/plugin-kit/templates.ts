import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** In the compiled program this folder is next to its modules. */
const FOLDER = join(import.meta.dir, 'templates')

export const kinds = [
  'provider',
  'pack',
  'managed-check',
  'mcp-auth-mode',
  'accounting-sink',
  'admin',
  'middleware',
  'surface',
] as const
export type Kind = (typeof kinds)[number]

/**
 * The files of a kind by path, as in `templates/`. Test files have other names there, so that they
 * do not run.
 */
export function templateFiles(kind: Kind): Readonly<Record<string, string>> {
  const folder = join(FOLDER, kind)
  const files = [...new Bun.Glob('**').scanSync(folder)].map((path) => [
    path === 'testing.ts' ? 'index.test.ts' : path,
    readFileSync(join(folder, path), 'utf8'),
  ])
  return Object.fromEntries(files)
}

/** Closes the README of every kind. */
export function readmeEnd(): string {
  return readFileSync(join(FOLDER, '_shared/README.md'), 'utf8')
}
