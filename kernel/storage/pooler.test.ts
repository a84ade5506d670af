import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { PGBOUNCER, startPooler } from '../../test/harness/pooler.ts'
import { openDatabase } from './database.ts'

describe.skipIf(PGBOUNCER === null)('behind PgBouncer', () => {
  let db: TestDatabase
  beforeAll(async () => {
    db = await createTestDatabase()
  })
  afterAll(async () => {
    await db.drop()
  })

  test('refuses a database behind a transaction pooler', async () => {
    const pooler = await startPooler(db.url, 'transaction')
    try {
      await expect(openDatabase(pooler.url)).rejects.toThrow(
        'is behind a transaction pooler, which does not support notifications and session locks; connect to the server itself or to a session pooler',
      )
    } finally {
      await pooler.stop()
    }
  })

  test('that keeps a session for each connection it can be used', async () => {
    const pooler = await startPooler(db.url, 'session')
    try {
      const pool = await openDatabase(pooler.url)
      const heard: string[] = []
      const { unlisten } = await pool.sql.listen('news', (payload) => heard.push(payload))
      await pool.sql.notify('news', 'one')
      while (heard.length === 0) await Bun.sleep(5)
      expect(heard).toEqual(['one'])
      await unlisten()
      await pool.close()
    } finally {
      await pooler.stop()
    }
  })
})
