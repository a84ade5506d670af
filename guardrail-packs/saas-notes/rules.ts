import type { PackRule } from 'model-gateway/guardrail'
import { wordList, wordSet } from '../_shared/word-lists.ts'

const back = 'Read the page or database, and ask a person to move, archive or delete it.'

export const rules: readonly PackRule[] = [
  {
    id: 'tool',
    reasonCode: 'notes.destructive_tool',
    description: 'Deletes, archives, moves or trashes pages, databases or workspaces.',
    saferAction: back,
  },
  {
    id: 'update-flag',
    reasonCode: 'notes.trashing_update',
    description: 'Updates something so that it is archived, trashed, deleted or emptied.',
    saferAction: 'Leave that property out, or set it to false.',
  },
  {
    id: 'action',
    reasonCode: 'notes.destructive_action',
    description: 'Asks a tool of many actions to delete, archive, move, trash or overwrite.',
    saferAction: back,
  },
  {
    id: 'schema',
    reasonCode: 'notes.property_removal',
    description: 'Drops a property of a database, and every value in it.',
    saferAction: 'Rename or hide the property instead.',
  },
  {
    id: 'cli',
    reasonCode: 'notes.destructive_command',
    description: 'Deletes, moves or trashes something with the vendor’s command-line tool.',
    saferAction: back,
  },
]

/** Registry names such as `notion-team`, `notionhq` and `notion2`; not `notional`. */
export const serverName = /^notion(?!al)/
export const destructiveVerbs = wordSet(
  'delete archive move trash remove rm destroy purge erase empty',
)
/** Arguments that make an update a removal if true. */
export const trashingFlags = wordSet(
  `archive archived is_archived in_trash is_in_trash trash trashed is_trashed delete deleted is_deleted
  erase_content allow_deleting_content`,
)
/** Arguments that select a tool's action. */
export const actionKeys = wordSet(
  'action actions operation operations op command method type mode verb http_method',
)
/** Actions that overwrite content. */
export const overwriting = wordSet('replace_content replace_content_range')
/** Written content and stored values: not instructions to the tool. */
export const contentKeys = wordSet(
  `properties children content title text rich_text markdown new_str old_str query note notes description caption
  filter sorts comment body_text content_updates`,
)

/** The vendor's command-line tool. */
export const executables: ReadonlySet<string> = new Set(['ntn'])
export const cliOptions = {
  short: 'Xdfo',
  values: wordList('method data file output token workspace env notion-version'),
  flags: wordList('help version docs spec json allow-deleting-content'),
}
