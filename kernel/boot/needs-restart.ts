import type { Fields } from '../config/fields.ts'
import type { LoadedConfig } from '../config/loaded.ts'

type Started = Pick<LoadedConfig, 'server' | 'databaseUrl'>

/** Paths of settings that differ from the config of the start and apply only after a restart. */
export function needsRestart(started: Started, next: Started): readonly string[] {
  const before: Fields = started.server
  const after: Fields = next.server
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  const differ = keys.filter((key) => !Bun.deepEquals(before[key], after[key]))
  const sameDatabase = started.databaseUrl?.reveal() === next.databaseUrl?.reveal()
  return [...(sameDatabase ? [] : ['database.url']), ...differ.map((key) => `server.${key}`)]
}
