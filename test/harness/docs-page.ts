import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended } from './ended.ts'

const ROOT = join(import.meta.dir, '../..')

/** A fenced block of a page. */
export interface Block {
  /** Its path from the root of the repository, such as `docs/mcp.md`. */
  readonly page: string
  /** What stands behind the fence; empty when nothing does. */
  readonly language: string
  readonly text: string
}

/** Every fenced block of the pages for users, in the order of the pages. */
export function docsBlocks(): readonly Block[] {
  const pages = ['README.md', ...new Bun.Glob('docs/**/*.md').scanSync(ROOT)].toSorted()
  return pages.flatMap((page) => blocksOf(page))
}

/** The fenced blocks of a page, without the indentation of a list that they stand in. */
export function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^( *)```(\w*)[^\n]*\n(.*?)^\1```$/gms)].map(
    ([, indent = '', language = '', block = '']) => ({
      page,
      language,
      text: block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
}

export interface PageRun {
  /** Everything that the commands printed. */
  readonly out: string
  /** The commands as the page has them, without its settings. */
  readonly commands: string
}

/**
 * Runs the commands of a page of `docs/` as they are written. Its first block holds settings, one
 * `NAME=value` a line; `settings` replaces each of them. Throws when a command fails.
 */
export async function runPage(
  page: string,
  settings: Readonly<Record<string, string>>,
  cwd: string,
): Promise<PageRun> {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block as string)
  const [first = '', ...commands] = blocks
  const replaced = first.replaceAll(
    /^(\w+)=.*$/gm,
    (_, name: string) => `${name}=${settings[name]}`,
  )
  const names = replaced.match(/^\w+(?==)/gm) ?? []
  if (names.toSorted().join() !== Object.keys(settings).toSorted().join()) {
    throw new Error(`${page} sets ${names.join(', ')}`)
  }
  const script = ['set -euo pipefail', replaced, ...commands].join('\n')
  const child = Bun.spawn(['bash', '-xc', script], { cwd, stdout: 'pipe', stderr: 'pipe' })
  const { out, err, code } = await ended(child)
  if (code !== 0) throw new Error(`${err.slice(-1000)}\n${out.slice(-1000)}`)
  return { out, commands: commands.join() }
}
