export { DatabaseError, type OpenDatabase, openDatabase } from './database.ts'
export { DataDirectoryInUseError } from './embedded.ts'
export {
  MigrationError,
  type MigrationName,
  migrate,
  type PluginMigrations,
  pendingMigrations,
} from './migrate.ts'
export { schemaName } from './schema-name.ts'
