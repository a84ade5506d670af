import { expect, test } from 'bun:test'
import { type Command, UsageError } from 'model-gateway/plugin'
import { db, keyEntry, type Sections, sample, startReplica, until, useDatabase } from './testing.ts'

useDatabase()

async function run(command: Command, line: string): Promise<string[]> {
  const lines: string[] = []
  await command.run(line.split(' '), (text) => lines.push(text))
  return lines
}

test('keys create prints a key that works at once, and nothing else', async () => {
  const [a, b] = [await startReplica(), await startReplica({ deaf: true })]
  const { sections } = sample()
  await a.accept(sections)
  await b.accept(sections)
  const [raw = '', ...rest] = await run(
    a.create,
    '--user ADA@example.com --model small --model=large --name mine --expires 90d',
  )
  expect(rest).toEqual([])
  const principal = await b.identity.authenticate(raw)
  expect(principal).toMatchObject({
    owner: { email: 'ada@example.com' },
    grants: new Set(['small', 'large']),
  })
  b.clock.skipMs = 90 * 86_400_000 + 1000
  await until(async () => (await b.ask(raw)) === 'api_key_expired', 2_500)
  const [row] = await db.sql`select name from identity.api_keys where id = ${principal.apiKeyId}`
  expect(row?.name).toBe('mine')
  expect(a.audited).toMatchObject([
    {
      actor: undefined,
      requestId: 'command:keys-create',
      action: 'api_key.create',
      objectKind: 'api_key',
      objectId: principal.apiKeyId,
      after: {
        name: 'mine',
        owner: { kind: 'user', email: 'ada@example.com' },
        granted_models: ['small', 'large'],
        status: 'active',
      },
    },
  ])
  expect(JSON.stringify(a.audited)).not.toContain(raw.split('.')[1] ?? '')

  const [forAccount = ''] = await run(a.create, '--service-account ci --model demo')
  expect((await a.identity.authenticate(forAccount)).owner).toMatchObject({ key: 'ci' })
})

test.each([
  ['--user nobody@example.com --all-models', 'no user has the email address nobody@example.com'],
  ['--service-account nix --model small', 'no service account has the key nix'],
  ['--user ada@example.com --model smal', 'no model matches smal'],
  ['--user ada@example.com --model sm*x', 'no model matches sm*x'],
  ['--service-account ci --model *', '--model "*" is allowed only for users'],
  ['--user ada@example.com', 'set either --model'],
  ['--user ada@example.com --all-models --model small', 'set either --model'],
  ['--all-models', 'set either --user'],
  ['--user ada@example.com --service-account ci --model small', 'set either --user'],
  ['--service-account ci --all-models', 'only for users'],
  ['--user ada@example.com --all-models --expires soon', 'must be a number of days or hours'],
  ['--user', '--user needs a value'],
  ['--usr ada@example.com', 'unknown argument --usr'],
])('keys create %s is refused', async (line, message) => {
  const replica = await startReplica()
  await replica.accept(sample().sections)
  const refused = await run(replica.create, line).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(UsageError)
  expect(String(refused)).toContain(message)
  expect(replica.audited).toEqual([])
})

test('a key that a command made is the operator’s: a file that names it changes nothing', async () => {
  const replica = await startReplica()
  const { sections, user } = sample()
  await replica.accept(sections)
  const [raw = ''] = await run(replica.create, '--user ada@example.com --model small --name mine')
  const api_keys = [keyEntry(user, { all_models: true }), { ...keyEntry(raw), name: 'other' }]
  await replica.accept({ ...sections, users: [{ ...sections.users[0], api_keys }] })
  expect(replica.warnings.map(({ path, msg }) => `${path}: ${msg}`)).toEqual([
    'users[0].api_keys[1]: an administrator has set its name, so the value in the file is ignored',
  ])
})

test('a quick start shows a working key and two curl lines, the next one how to make another', async () => {
  const replica = await startReplica()
  const sections: Sections = {
    users: [{ name: 'Demo', email: 'demo@example.com' }],
    auth: { quickstart_user: 'demo@example.com' },
  }
  await replica.accept(sections)
  const base = 'http://127.0.0.1:8080'
  const text = (await replica.welcome.lines(base)).join('\n')
  const raw = /gwk_\S+\.[\w-]+/.exec(text)?.[0] ?? ''
  expect((await replica.identity.authenticate(raw)).grants).toBe('all')
  const bodies = [...text.matchAll(/^curl .*'(\{.*\})'$/gm)].map(([line, body = '']) => {
    expect(line).toContain(`${base}/v1/chat/completions`)
    expect(line).toContain(raw)
    return JSON.parse(body)
  })
  expect(bodies.map(({ model, stream }) => ({ model, stream }))).toEqual([
    { model: 'demo', stream: undefined },
    { model: 'demo', stream: true },
  ])

  const again = (await replica.welcome.lines(base)).join('\n')
  expect(again).toContain('gateway keys create --user demo@example.com --all-models')
  expect(again).not.toContain('gwk_')

  await replica.accept({ ...sections, auth: {} })
  expect(await replica.welcome.lines(base)).toEqual([])
})
