import { test } from 'bun:test'
import { createTestDatabase } from '../../test/harness/database.ts'
import { exchange } from './testing.ts'
import { encodeRow } from './row.ts'
import { payloadPolicy } from './policy.ts'
test('cpu', async () => {
  const t = await createTestDatabase()
  const rows = Array.from({ length: 400 }, () => encodeRow(exchange(), payloadPolicy('summary_only'), Date.now()))
  console.log('chars/row', rows[0]!.json.length)
  const measure = async (name: string, f: () => unknown, n = 100) => {
    for (let i = 0; i < 20; i++) await f()
    const a = process.cpuUsage(); for (let i = 0; i < n; i++) await f()
    const b = process.cpuUsage(a); console.log(name, 'us/row', ((b.user + b.system) / n / 400).toFixed(2), 'user', (b.user / n / 400).toFixed(2))
  }
  for (let r = 0; r < 2; r++) {
  await measure('join', () => { const s = `[${rows.map((x) => x.json).join(',')}]`; return Buffer.byteLength(s) })
  const s = `[${rows.map((x) => x.json).join(',')}]`
  await measure('send flat', () => t.sql.unsafe('select length($1::text)', [s], { prepare: true }))
  await measure('send joined', () => t.sql.unsafe('select length($1::text)', [`[${rows.map((x) => x.json).join(',')}]`], { prepare: true }))
  const small = s.slice(0, s.length / 2)
  await measure('send half', () => t.sql.unsafe('select length($1::text)', [small], { prepare: true }))
  const buf = Buffer.from(s)
  await measure('send bytea buf', () => t.sql.unsafe('select length($1::bytea)', [buf], { prepare: true }))
  await measure('chunks of 50', async () => { for (let i = 0; i < 400; i += 50) await t.sql.unsafe('select length($1::text)', [`[${rows.slice(i, i + 50).map((x) => x.json).join(',')}]`], { prepare: true }) })
  }
  await t.drop()
}, 120000)
