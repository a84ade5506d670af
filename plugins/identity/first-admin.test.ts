import { expect, test } from 'bun:test'
import { UsageError } from 'model-gateway/plugin'
import { bootstrapAdmin, createAdminCommand, createAdminWelcome } from './first-admin.ts'
import plugin from './index.ts'
import { createSessions } from './sessions/sessions.ts'
import { createSessionStore } from './sessions/store.ts'
import { db, useDatabase } from './testing.ts'

useDatabase()

const PASSWORD = 'correct horse battery'
const from = { requestId: 'r', address: undefined, userAgent: undefined, devices: [] }

async function start() {
  const store = createSessionStore(
    await db.forPlugin(plugin.manifest.id, plugin.manifest.migrations ?? []),
  )
  const sessions = createSessions(store, { now: () => new Date() }, () => {})
  const written: unknown[] = []
  const audit = () => ({ write: async (_: unknown, entry: unknown) => void written.push(entry) })
  const signIn = async (email: string, password: string) =>
    (await sessions.signIn({ email, password, ...from })).caller.role
  return { parts: { store, audit }, signIn, written }
}

test('the config makes an admin when there is none, and never again', async () => {
  const { parts, signIn, written } = await start()
  const admin = { email: 'Root@example.com', password: PASSWORD }
  expect(await bootstrapAdmin(parts, admin)).toBeUndefined()
  expect(await signIn('root@example.com', PASSWORD)).toBe('platform_admin')
  const requestId = 'config:bootstrap-admin'
  expect(written).toMatchObject([{ actor: undefined, action: 'user.make_admin', requestId }])
  expect(JSON.stringify(written)).not.toContain(PASSWORD)
  await bootstrapAdmin(parts, { ...admin, password: 'another password' })
  await bootstrapAdmin(parts, { email: 'second@example.com', password: PASSWORD })
  expect(await signIn('root@example.com', PASSWORD)).toBe('platform_admin')
  expect(await db.sql`select admin_fields from identity.users`).toEqual([
    { admin_fields: ['role'] },
  ] as never)
})

test('replicas that start at once make one admin', async () => {
  const { parts, written } = await start()
  const emails = ['a', 'b', 'c', 'd'].map((name) => `${name}@example.com`)
  await Promise.all(emails.map((email) => bootstrapAdmin(parts, { email, password: PASSWORD })))
  expect((await db.sql`select id from identity.users`).length).toBe(1)
  expect(written.length).toBe(1)
})

test('a user of the config becomes the admin; a disabled one does not', async () => {
  const { parts, signIn } = await start()
  await db.sql`insert into identity.users (id, name, email, status) values
    (gen_random_uuid(), 'Ada', 'ada@example.com', 'active'),
    (gen_random_uuid(), 'Bob', 'bob@example.com', 'disabled')`
  const bob = await bootstrapAdmin(parts, { email: 'bob@example.com', password: PASSWORD })
  expect(bob).toBe('bob@example.com is disabled and stays disabled')
  await bootstrapAdmin(parts, { email: 'ada@example.com', password: PASSWORD })
  expect(await signIn('ada@example.com', PASSWORD)).toBe('platform_admin')
  expect(await db.sql`select name, role, admin_fields from identity.users order by email`).toEqual([
    { name: 'Ada', role: 'platform_admin', admin_fields: ['role'] },
    { name: 'Bob', role: 'user', admin_fields: [] },
  ] as never)
})

test('admin create makes an admin, or gives one another password', async () => {
  const { parts, signIn } = await start()
  const lines: string[] = []
  for (const password of [PASSWORD, 'another password']) {
    const command = createAdminCommand(parts, async () => password)
    await command.run(['--email', 'ADA@example.com', '--name=Ada'], (line) => lines.push(line))
    expect(await signIn('ada@example.com', password)).toBe('platform_admin')
  }
  expect(lines[0]).toBe('ada@example.com is a platform admin and can sign in')
  const [row, ...others] = await db.sql`select name, admin_fields from identity.users`
  expect(others).toEqual([])
  expect(row?.name).toBe('Ada')
  expect(row?.admin_fields.toSorted()).toEqual([
    'model_access',
    'name',
    'request_logging_enabled',
    'role',
    'team',
  ])
  await expect(signIn('ada@example.com', PASSWORD)).rejects.toThrow('wrong')
})

test.each([
  [[], PASSWORD, '--email is required'],
  [['--email'], PASSWORD, 'needs a value'],
  [['--email', 'ada'], PASSWORD, 'must be an email address'],
  [['--mail', 'ada@example.com'], PASSWORD, 'unknown argument --mail'],
  [['--email', 'ada@example.com'], 'too short', 'at least 12'],
  [['--email', 'ada@example.com'], undefined, 'the password is missing'],
])('admin create %p with the password %p is refused', async (args, password, message) => {
  const { parts } = await start()
  const refused = await createAdminCommand(parts, async () => password)
    .run(args, () => {})
    .catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(UsageError)
  expect(String(refused)).toContain(message)
})

test('a quick start shows a sign-in that works, once', async () => {
  const { parts, signIn } = await start()
  const { lines } = createAdminWelcome(parts, () => 'demo@example.com')
  const text = (await lines('http://127.0.0.1:8080')).join('\n')
  const [, password = ''] = /demo@example\.com, password (\S+)/.exec(text) ?? []
  expect(await signIn('demo@example.com', password)).toBe('platform_admin')
  expect(text).toContain('http://127.0.0.1:8080/docs')
  const again = (await lines('http://127.0.0.1:8080')).join('\n')
  expect(again).toContain('gateway admin create')
  expect(again).not.toContain('password ')
  expect(await createAdminWelcome(parts, () => undefined).lines('')).toEqual([])
})
