/** `bun run docs:errors`: writes the table of docs/errors.md from what the kernel and plugins declare. */

import { join } from 'node:path'
import { type ErrorKind, kernelErrors } from '../kernel/plugin/errors.ts'
import { builtins } from '../plugins/standard/builtins.ts'
import { withTable } from './generated-table.ts'

export const ERRORS_PAGE = join(import.meta.dir, '../docs/errors.md')

/** Every error that the gateway answers with, by type and then by status. */
export const allErrors: readonly ErrorKind[] = [
  ...Object.values(kernelErrors),
  ...Object.values(builtins).flatMap(({ manifest }) => Object.values(manifest.errors ?? {})),
].toSorted((a, b) => a.status - b.status || a.type.localeCompare(b.type))

/** The page as it should be. */
export function withErrors(page: string): string {
  const head = ['`code`', 'HTTP', '`type`', 'When', 'What to do']
  const rows = allErrors.map(({ code, status, type, when, fix }) => [
    `\`${code}\``,
    String(status),
    `\`${type}\``,
    when,
    fix,
  ])
  return withTable(page, 'docs:errors', [head, ...rows])
}

if (import.meta.main) await Bun.write(ERRORS_PAGE, withErrors(await Bun.file(ERRORS_PAGE).text()))
