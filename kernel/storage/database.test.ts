import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { bigint, date, jsonb, pgTable, timestamp } from 'drizzle-orm/pg-core'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { openDatabase } from './database.ts'
import { schemaName } from './schema-name.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createTestDatabase()
})
afterAll(async () => {
  await db.drop()
})

async function until(condition: () => boolean, ms = 5000): Promise<void> {
  const deadline = Date.now() + ms
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('not in time')
    await Bun.sleep(5)
  }
}

describe('schemaName', () => {
  test.each([
    ['plugin.request-log', 'request_log'],
    ['provider.my-wire', 'provider_my_wire'],
    ['kernel', 'kernel'],
  ])('%s → %s', (id, schema) => {
    expect(schemaName(id)).toBe(schema)
  })

  test.each([
    'plugin.kernel',
    'plugin.public',
    'plugin.pg-x',
    'plugin.A',
    'plugin."x',
    // Its folder in the data directory would equal that of the database.
    'plugin.postgres',
  ])('refuses %s', (id) => {
    expect(() => schemaName(id)).toThrow('plugin id')
  })
})

describe('values', () => {
  test('of int8, numeric, timestamptz, date and jsonb', async () => {
    const [row] = await db.sql`
      select 9007199254740993::int8 as big, 1.10::numeric as exact, count(*) as n,
        '2026-01-02T03:04:05.678Z'::timestamptz as at, '2026-01-02'::date as day,
        ${db.sql.json({ a: 1 })}::jsonb as j, ${'{"b":2}'}::jsonb as t, ${[1, 2]}::int[] as list`
    expect(row).toEqual({
      big: 9007199254740993n,
      exact: '1.10',
      n: 1n,
      at: new Date('2026-01-02T03:04:05.678Z'),
      day: '2026-01-02',
      j: { a: 1 },
      t: { b: 2 },
      list: [1, 2],
    })
  })

  test('are the same whatever the database is set to', async () => {
    const own = await createTestDatabase()
    const name = new URL(own.url).pathname.slice(1)
    await own.sql.unsafe(`alter database ${name} set DateStyle = 'Postgres, DMY'`)
    await own.sql.unsafe(`alter database ${name} set TimeZone = 'Asia/Kolkata'`)
    const fresh = await openDatabase(own.url)
    try {
      const [row] = await fresh.sql`
        select '2026-03-04'::date as day, '2026-03-04'::date::text as text,
          '2026-03-04T05:06:07Z'::timestamptz as at`
      expect(row).toEqual({
        day: '2026-03-04',
        text: '2026-03-04',
        at: new Date('2026-03-04T05:06:07Z'),
      })
    } finally {
      await fresh.close()
      await own.drop()
    }
  })

  test('are the same through drizzle', async () => {
    await db.sql`create table things (at timestamptz, day date, doc jsonb, big bigint)`
    const things = pgTable('things', {
      at: timestamp('at', { withTimezone: true }),
      day: date('day'),
      doc: jsonb('doc'),
      big: bigint('big', { mode: 'bigint' }),
    })
    const { drizzle } = await db.forPlugin('plugin.things', [])
    const row = { at: new Date(1_750_000_000_123), day: '2026-02-03', doc: { a: ['x'] }, big: 3n }
    await drizzle.insert(things).values(row)
    expect(await drizzle.select().from(things)).toEqual([row])
    const [raw] = await db.sql`select jsonb_typeof(doc) as kind, at from things`
    expect(raw).toEqual({ kind: 'object', at: row.at })
  })
})

describe('listen', () => {
  test('receives notifications, and reports when it listens again after a lost connection', async () => {
    const capability = await db.forPlugin('plugin.listener', [])
    const heard: string[] = []
    let connected = 0
    const stop = await capability.listen(
      'news',
      (payload) => heard.push(payload),
      () => connected++,
    )
    expect(connected).toBe(1)
    await db.sql.notify('news', 'first')
    await until(() => heard.length === 1)

    // All other connections of this database.
    await db.sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
    await until(() => connected === 2)
    await db.sql.notify('news', 'second')
    await until(() => heard.length === 2)
    expect(heard).toEqual(['first', 'second'])

    await stop()
    await db.sql.notify('news', 'third')
    await Bun.sleep(50)
    expect(heard).toHaveLength(2)
  })
})

describe('a database that cannot be used', () => {
  test('is named without its password', async () => {
    const opening = openDatabase('postgres://me:hunter2@127.0.0.1:1/x')
    const message = await opening.then(
      () => 'opened',
      (error: Error) => error.message,
    )
    expect(message).toContain('the database at 127.0.0.1:1/x cannot be used: ECONNREFUSED')
    expect(message).not.toContain('hunter2')
  })

  test('with a wrong password says so', async () => {
    const url = new URL(db.url)
    url.password = 'wrong'
    await expect(openDatabase(url.href)).rejects.toThrow('password authentication failed')
  })

  test('hints at sslmode if the server does not support TLS', async () => {
    const url = new URL(db.url)
    url.searchParams.set('sslmode', 'require')
    await expect(openDatabase(url.href)).rejects.toThrow(
      'sslmode requires TLS, which the server may not support',
    )
  })

  test('that cannot hold every character is refused before anything is in it', async () => {
    const name = new URL(db.url).pathname.slice(1)
    await db.sql.unsafe(
      `create database ${name}_latin template template0 encoding 'LATIN1' locale 'C' locale_provider libc`,
    )
    const url = new URL(db.url)
    url.pathname += '_latin'
    try {
      await expect(openDatabase(url.href)).rejects.toThrow(
        `${name}_latin has the encoding LATIN1; the gateway needs UTF8`,
      )
    } finally {
      await db.sql.unsafe(`drop database ${name}_latin with (force)`)
    }
  })

  test('with something else than a Postgres URL is refused', async () => {
    await expect(openDatabase('mysql://x/y')).rejects.toThrow('database.url must look like')
  })
})
