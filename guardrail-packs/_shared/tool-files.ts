import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import { type Field, textOf } from './tool-fields.ts'
import { identityWords } from './tool-identity.ts'
import { wordSet } from './word-lists.ts'

/** Verbs of tools that write a file, and other words in their names. */
const writing = wordSet(`
  append apply copy create edit insert modify move multi overwrite patch put rename replace save str
  update upload write
`)
const files = wordSet(`
  cell document editor edit file files fs line lines notebook patch path replace text write writer
`)
/** Arguments with the name of the written file. */
const pathKeys = wordSet(`
  absolute_path dest dest_path destination destination_path file file_name file_path filename filepath
  new_path notebook_path output_path path relative_path relative_workspace_path target target_file
  target_path to uri
`)
const patchKeys = wordSet('command content diff input patch patch_text text')
/** Editor actions that do not write, for tools with all actions. */
const looking = /^(?:view|read|undo_edit|show|list)$/

/**
 * The files that a tool writes, as `tee`, so that commands and tools share one list of protected
 * files.
 */
export function writtenFiles(
  words: readonly string[],
  fields: readonly Field[],
): readonly (readonly string[])[] {
  const action = textOf(fields, editorKeys) ?? ''
  // An editor's action can be the only verb: `text_editor` with `{ command: 'str_replace' }`.
  if (!writesFiles([...words, ...(action.length > 24 ? [] : identityWords(action))])) return none
  if (looking.test(action)) return none
  const paths = [...pathsOf(fields), ...patchesOf(fields).flatMap(patchedFiles)]
  return paths.map((path) => ['tee', '--', path.replace(/^file:\/\//, '')])
}

const none: readonly (readonly string[])[] = []
const editorKeys: ReadonlySet<string> = new Set(['command', 'action', 'mode', 'operation'])

function writesFiles(words: readonly string[]): boolean {
  return words.some((word) => writing.has(word)) && words.some((word) => files.has(word))
}

function pathsOf(fields: readonly Field[]): readonly string[] {
  return fields.flatMap(({ key, value }) => {
    if (pathKeys.has(key) && typeof value === 'string') return [value]
    return key === 'files' || key === 'edits' ? insideList(value) : []
  })
}

/** `files: [{ path: '/etc/hosts', content: '' }]`. */
function insideList(value: JsonValue): readonly string[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((each) => {
    if (!isJsonObject(each)) return []
    return Object.entries(each).flatMap(([name, path]) =>
      pathKeys.has(name) && typeof path === 'string' ? [path] : [],
    )
  })
}

/** The texts of a call that are patches in the format of `apply_patch`. */
function patchesOf(fields: readonly Field[]): readonly string[] {
  return fields.flatMap(({ key, value }) =>
    patchKeys.has(key) && typeof value === 'string' && value.includes('*** ') ? [value] : [],
  )
}

function patchedFiles(patch: string): readonly string[] {
  return [...patch.matchAll(/^\*\*\* (?:Add File|Update File|Move to): (.+)$/gm)].map(
    ([, path = '']) => path.trim(),
  )
}
