import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { DatabaseError, openDatabase } from './database.ts'
import { migrate, pendingMigrations } from './migrate.ts'

let db: TestDatabase
beforeEach(async () => {
  db = await createTestDatabase()
})
afterEach(async () => {
  await db.drop()
})

const first = { name: '0001_first', sql: 'create table a (x int); insert into a values (1);' }
const second = { name: '0002_second', sql: 'insert into a values (2)' }
const plugin = (...migrations: { name: string; sql: string }[]) => [
  { plugin: 'plugin.some-thing', migrations },
]

test('applies new migrations once, in the schema of the plugin', async () => {
  expect(await migrate(db.sql, plugin(first))).toEqual([
    { plugin: 'plugin.some-thing', name: '0001_first' },
  ])
  expect(await pendingMigrations(db.sql, plugin(first, second))).toEqual([
    { plugin: 'plugin.some-thing', name: '0002_second' },
  ])
  await migrate(db.sql, plugin(first, second))
  expect(await migrate(db.sql, plugin(first, second))).toEqual([])
  expect(await pendingMigrations(db.sql, plugin(first, second))).toEqual([])
  const rows = await db.sql`select x from some_thing.a order by x`
  expect(rows.map((row) => row.x)).toEqual([1, 2])
})

test('pendingMigrations changes nothing in an empty database', async () => {
  expect(await pendingMigrations(db.sql, plugin(first))).toHaveLength(1)
  const schemas = await db.sql`select 1 from pg_namespace where nspname in ('kernel', 'some_thing')`
  expect(schemas).toHaveLength(0)
})

test('rolls a failing migration back and keeps the earlier ones', async () => {
  const broken = { name: '0002_broken', sql: 'create table b (x int); select * from nowhere' }
  await expect(migrate(db.sql, plugin(first, broken))).rejects.toThrow(
    'migration 0002_broken of plugin.some-thing failed: relation "nowhere" does not exist',
  )
  const [row] = await db.sql`select to_regclass('some_thing.a') is not null as a,
    to_regclass('some_thing.b') is not null as b`
  expect(row).toEqual({ a: true, b: false })
  // The connection is usable and the lock free.
  expect(await migrate(db.sql, plugin(first, second))).toHaveLength(1)
})

test('names a migration whose connection was lost, and can retry it', async () => {
  const lost = { name: '0002_lost', sql: 'select pg_terminate_backend(pg_backend_pid())' }
  await expect(migrate(db.sql, plugin(first, lost))).rejects.toThrow(
    'migration 0002_lost of plugin.some-thing failed: ',
  )
  expect(await migrate(db.sql, plugin(first, second))).toHaveLength(1)
})

test('refuses a migration that was changed, skipped or is not known', async () => {
  await migrate(db.sql, plugin(first, second))
  const changed = { ...first, sql: `${first.sql} ` }
  await expect(migrate(db.sql, plugin(changed, second))).rejects.toThrow('was changed after')
  await expect(pendingMigrations(db.sql, plugin(first))).rejects.toThrow('does not know')
  const late = { name: '0001_zzz', sql: 'select 1' }
  await expect(
    migrate(db.sql, plugin({ ...first, name: '0000_new' }, first, second)),
  ).rejects.toThrow('is missing in the database, which already has the later 0001_first')
  await expect(migrate(db.sql, plugin(first, late))).rejects.toThrow('numbers must ascend')
  await expect(migrate(db.sql, plugin({ name: '1_x', sql: '' }))).rejects.toThrow('0001_name')
})

test('reports a role that may not create a schema', async () => {
  const name = new URL(db.url).pathname.slice(1)
  await db.sql.unsafe(`create role ${name} login password 'x'`)
  const url = new URL(db.url)
  Object.assign(url, { username: name, password: 'x' })
  const other = await openDatabase(url.href)
  try {
    const failing = migrate(other.sql, plugin(first))
    await expect(failing).rejects.toBeInstanceOf(DatabaseError)
    await expect(failing).rejects.toThrow(
      `the database cannot be migrated: permission denied for database ${name}; the role in database.url must own the database or have CREATE on it`,
    )
  } finally {
    await other.close()
    await db.sql.unsafe(`drop role ${name}`)
  }
})

test('two parallel processes apply everything once', async () => {
  const other = await openDatabase(db.url)
  try {
    const slow = { name: '0001_slow', sql: `${first.sql} select pg_sleep(0.2);` }
    const done = await Promise.all([
      migrate(db.sql, plugin(slow, second)),
      migrate(other.sql, plugin(slow, second)),
    ])
    expect(done.map((names) => names.length).sort()).toEqual([0, 2])
    expect(await db.sql`select x from some_thing.a`).toHaveLength(2)
  } finally {
    await other.close()
  }
})
