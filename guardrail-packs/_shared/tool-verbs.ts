import { wordSet } from './word-lists.ts'

/** Verbs that only read: the following words are their objects. */
const readVerbs = wordSet(`
  analyze ask audit browse can check compare compute_stats count describe diff estimate evaluate examine explain
  export fetch find get has head inspect introspect is list lookup ls may monitor peek preview print query read
  report retrieve review sample scan search select show simulate stat stats summarize tail test validate verify
  view wait watch
`)
/** Verbs that change things without removing anything. */
const writeVerbs = wordSet(`
  add append apply approve assign associate attach backup build cancel clone comment complete configure connect
  copy cp create deploy disable download duplicate edit enable exec grant import increase insert install invite link
  load lock login make merge mk modify new notify open pause publish put_object register rename reply resize resolve
  restart restore resume revert rollback run_report save schedule send set share start stop submit subscribe sync tag unarchive
  undelete undo unlock untrash update upgrade upload upsert write
`)
/** A name with such an end only shows what would happen or has happened. */
const harmlessEnds = wordSet('preview status history help info simulation estimate')

export type ToolVerb = 'destructive' | 'read' | 'write' | 'none'

/**
 * The action that a tool's or operation's name means: the first word with a meaning decides, so
 * `list_deleted_pages` reads and `pages.delete` destroys. Words of transport (`post`, `batch`) and
 * nouns have none. `find_and_delete` does both.
 */
export function toolVerb(words: readonly string[], destructive: ReadonlySet<string>): ToolVerb {
  const alsoDestroys = words.some(
    (word, at) => word === 'and' && destructive.has(words[at + 1] ?? ''),
  )
  for (const word of words) {
    if (alsoDestroys || destructive.has(word)) {
      return harmlessEnds.has(words.at(-1) ?? '') ? 'read' : 'destructive'
    }
    if (readVerbs.has(word)) return 'read'
    if (writeVerbs.has(word)) return 'write'
  }
  return 'none'
}
