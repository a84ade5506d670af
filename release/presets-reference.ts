/**
 * `bun run docs:presets`: writes the table of presets in docs/providers/README.md from their data.
 */

import { join } from 'node:path'
import { type Preset, presets } from '../providers/generic-compat/presets.ts'
import { withTable } from './generated-table.ts'

export const PRESETS_PAGE = join(import.meta.dir, '../docs/providers/README.md')
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

/** The page as it should be. */
export function withPresets(page: string): string {
  const head = ['Type', 'Vendor', 'Address', 'Variable', 'APIs', 'Price list']
  return withTable(page, 'docs:presets', [head, ...presets.map(rowOf)])
}

if (import.meta.main) {
  await Bun.write(PRESETS_PAGE, withPresets(await Bun.file(PRESETS_PAGE).text()))
}
