import { afterEach, beforeEach } from 'bun:test'
import type { Sql } from 'postgres'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { createDatabaseProxy, type DatabaseProxy } from '../../test/harness/database-proxy.ts'
import { type OpenDatabase, openDatabase } from './database.ts'

/** The size of a pool. */
export const AT_ONCE = 10

/** A database for a test file and a pool per test, behind a proxy that can interfere. */
export function useProxiedPool() {
  const own = {} as { db: TestDatabase; proxy: DatabaseProxy; pool: OpenDatabase; sql: Sql }
  beforeEach(async () => {
    own.db = await createTestDatabase()
    own.proxy = await createDatabaseProxy(own.db.url)
    own.pool = await openDatabase(own.proxy.url)
    own.sql = own.pool.sql
  })
  afterEach(async () => {
    await own.pool.close()
    own.proxy.close()
    await own.db.drop()
  })
  return own
}
