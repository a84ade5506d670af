/** `bun run docs:presets`: writes the table of presets in docs/providers/README.md from their data. */

import { join } from 'node:path'
import { type Preset, presets } from '../providers/generic-compat/presets.ts'

export const PRESETS_PAGE = join(import.meta.dir, '../docs/providers/README.md')
const BEGIN = '<!-- The table below is generated: bun run docs:presets -->\n\n'
const END = '\n\n<!-- The end of the table -->'

/** The page as it should be. Throws an Error for a page without the marks around the table. */
export function withPresets(page: string): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`${PRESETS_PAGE} has lost its marks`)
  return page.slice(0, begin + BEGIN.length) + table() + page.slice(end)
}

const code = (text: string) => `\`${text}\``

function rowOf({ type, name, page, baseUrl, keys, auth, apis, pricing }: Preset): string[] {
  const names = keys.map(code).join(' or ')
  return [
    code(type),
    `[${name}](${page})`,
    code(baseUrl),
    auth === 'bearer' || names === '' ? names : `${names}, if any`,
    apis.map((api) => (api === 'chat_completions' ? 'chat' : api)).join(', '),
    pricing === undefined ? '' : code(pricing),
  ]
}

function table(): string {
  const head = ['Type', 'Vendor', 'Address', 'Variable', 'APIs', 'Price list']
  const rows = [head, ...presets.map(rowOf)]
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = line(widths.map((width) => '-'.repeat(width)))
  return [line(head), rule, ...rows.slice(1).map(line)].join('\n')
}

if (import.meta.main) {
  await Bun.write(PRESETS_PAGE, withPresets(await Bun.file(PRESETS_PAGE).text()))
}
