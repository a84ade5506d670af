import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPackThread, usualLimits } from '../../../plugins/pack-isolation/pack-thread.ts'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { pluginFolder, simulated } from '../plugins/plugin-files.fixture.ts'

const PACK = `
const rule = { id: 'test.denied', reasonCode: 'test.denied', description: 'Denied.', saferAction: 'Do not.' }
const match = { packId: 'test.pack', ruleId: rule.id, matchedField: 'command.arguments', ...rule }
const kept = []
let ready = false
function evaluate(input) {
  const text = String(input.command)
  if (text.includes('ready')) return ready ? undefined : match
  if (text.includes('loop')) for (;;) {}
  if (text.includes('hog')) for (;;) kept.push(new Uint8Array(5e7).fill(1))
  if (text.includes('leak')) for (let i = 0; i < 3e6; i++) kept.push({ i })
  if (text.includes('crash')) setTimeout(() => { throw new Error('secret words') }, 0)
  if (text.includes('exit')) process.exit(3)
  if (text.includes('throw')) throw new RangeError('secret words')
  if (text.includes('shape')) return { nothing: true }
  if (text.includes('deny')) return match
}
const pack = {
  id: 'test.pack', version: '1.0.0', summary: 'A test.', phases: ['harness_pre_tool'], rules: [rule],
  prepare: () => { ready = true }, evaluate, explain: (input) => ({ reading: 'read', match: evaluate(input) }),
}
`

const files = pluginFolder()

async function startWith(mode: 'deny' | 'audit'): Promise<TestGateway> {
  const use = files.plugin('thread', {
    head: PACK,
    manifest: 'declares: [{ point: guardrailPacks, spec: pack }],',
    setup: `ctx.log.info('set up in a thread'); ctx.provide(guardrailPacks, pack)`,
  })
  return await startTestGateway({
    ...simulated,
    plugins: [
      { use: 'builtin:*' },
      { use, isolation: 'worker' },
      { use: 'builtin:core-git', isolation: 'worker' },
      { use: 'builtin:database-sql', isolation: 'worker' },
    ],
    guardrails: {
      default: { enabled: true, mode, packs: ['test.pack', 'core.git', 'database.sql'] },
    },
  })
}

describe.each(['deny', 'audit'] as const)('in %s mode', (mode) => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startWith(mode)
  }, 30_000)
  afterAll(() => gateway?.stop())

  async function judge(command: string) {
    const body = { tool_name: 'bash', command }
    const json = { 'content-type': 'application/json' }
    const reply = await gateway.post('/api/v1/guardrails/evaluate', body, json)
    const { data } = (await reply.json()) as { data: Record<string, unknown> }
    return data
  }
  const ends = () =>
    gateway.logs.filter(({ msg }) => String(msg).startsWith('the thread of the pack was stopped'))

  test('packs judge in their threads, the built-in one too', async () => {
    expect(await judge('echo fine')).toMatchObject({ action: 'allow', allowed: true })
    const denied = await judge('deny this')
    expect(denied).toMatchObject({ action: mode, reason_code: 'test.denied' })
    const git = await judge('git push --force origin main')
    expect(git.action).toBe(mode)
    expect(git.reason_code).not.toBe('test.denied')
    // Its parser takes a lot of memory before the first call.
    const sql = await judge(`psql -c 'DROP TABLE users'`)
    expect([sql.action, String(sql.reason_code).split('.')[0]]).toEqual([mode, 'sql'])
    expect(ends().filter(({ plugin }) => plugin === 'guardrail-pack.database-sql')).toEqual([])
    expect(gateway.logs.some(({ msg }) => msg === 'set up in a thread')).toBe(true)
  })

  test.each([
    ['loop', 'overrun', 'it did not answer within 500 ms'],
    ['exit', 'crash', 'its thread crashed'],
  ])(
    'a %s ends the thread, is told, and the next call is judged again',
    async (command, reason, words) => {
      const before = ends().length
      const others = Array.from({ length: 5 }, (_, i) => judge(`echo ${i}`))
      const verdict = await judge(command)
      expect(verdict).toMatchObject({
        action: mode,
        allowed: mode === 'audit',
        reason_code: 'command.uninspectable',
      })
      for (const other of await Promise.all(others)) expect(other.action).toBe('allow')
      expect(await judge('echo again')).toMatchObject({ action: 'allow' })
      expect(await judge('deny again')).toMatchObject({ reason_code: 'test.denied' })
      const msg = `the thread of the pack was stopped: ${words}`
      const told = ends().slice(before)
      expect(told[0]).toMatchObject({ plugin: 'plugin.thread', reason, msg })
      // After a crash it is asked once more: an earlier call may have been to blame.
      expect(told).toHaveLength(reason === 'crash' ? 2 : 1)
      const [row] = await eventually(async () => {
        const rows = await gateway.sql`
        select action, reason_code, pack_id from guardrails.guardrail_decisions
        where id = ${String(verdict.decision_id)}`
        return rows.length > 0 ? rows : undefined
      })
      expect(row).toMatchObject({ action: mode, pack_id: 'test.pack' })
    },
  )

  test('a hog is ended, for its memory or for its time, and costs no other call', async () => {
    const verdict = await judge('hog')
    expect(verdict).toMatchObject({ action: mode, reason_code: 'command.uninspectable' })
    expect(['memory', 'overrun']).toContain(String(ends().at(-1)?.reason))
    expect((await judge('echo again')).action).toBe('allow')
  })

  test('what crashes later, leaks, throws or gives no verdict costs no other call', async () => {
    expect((await judge('throw')).reason_code).toBe('command.uninspectable')
    expect((await judge('shape')).reason_code).toBe('command.uninspectable')
    expect((await judge('leak')).action).toBeString()
    expect((await judge('crash')).action).toBeString()
    for (let i = 0; i < 20; i++) {
      expect((await judge('echo still')).action).toBe('allow')
      await Bun.sleep(2)
    }
    expect(JSON.stringify(gateway.logs)).not.toContain('secret words')
  })

  test('requests are served while a pack runs away', async () => {
    const runaway = judge('loop')
    let turns = 0
    const timer = setInterval(() => turns++, 10)
    const reply = await gateway.post('/v1/chat/completions', {
      model: 'm',
      messages: [{ role: 'user', content: 'hello' }],
    })
    expect(reply.status).toBe(200)
    expect((await runaway).reason_code).toBe('command.uninspectable')
    clearInterval(timer)
    // The gateway's own thread went on turning.
    expect(turns).toBeGreaterThan(5)
  })
})

test('a hog is ended for its memory, however long it may take; the next thread is made ready, and quotes nothing', async () => {
  const module = files.plugin('hog', {
    head: PACK,
    manifest: 'declares: [{ point: guardrailPacks, spec: pack }],',
    setup: 'ctx.provide(guardrailPacks, pack)',
  })
  const ended: string[] = []
  const thread = createPackThread({
    worker: new URL('../../../plugins/standard/pack-worker.ts', import.meta.url),
    start: { module, config: {} },
    limits: { ...usualLimits, callMs: 15_000 },
    log() {},
    ended: (why) => void ended.push(why),
  })
  await thread.open()
  await thread.prepare('test.pack')
  const ask = (command: string) =>
    thread
      .ask('evaluate', 'test.pack', { kind: 'command', phase: 'harness_pre_tool', command })
      .catch((error: Error) => error.message)
  expect(await ask('hog')).toBe('it used more than 256 MiB for one call')
  expect(ended).toEqual(['memory'])
  expect(await ask('ready')).toBeUndefined()
  expect(await ask('throw')).toBe('it threw RangeError')
  thread.close()
}, 30_000)

test('a pack may be an object of a class, and its rules be more than is told of them', async () => {
  const module = files.plugin('styled', {
    head: `
      class Match {
        #rule
        constructor(rule) { this.#rule = rule }
        packId = 'test.styled'
        matchedField = 'command.executable'
        get ruleId() { return this.#rule.id }
        get reasonCode() { return this.#rule.reasonCode }
        get description() { return this.#rule.description }
        get saferAction() { return this.#rule.saferAction }
      }
      class Rule {
        id = 'r'
        reasonCode = 'test.denied'
        saferAction = 'Do not.'
        matches = (input) => input.command === 'deny'
        get description() { return 'Denied.' }
      }
      class Pack {
        id = 'test.styled'
        version = '1.0.0'
        phases = ['harness_pre_tool']
        rules = [new Rule()]
        get summary() { return 'A test.' }
        evaluate(input) {
          const rule = this.rules.find((one) => one.matches(input))
          return rule && new Match(rule)
        }
        explain(input) { return { reading: 'read', match: this.evaluate(input) } }
      }
      const pack = new Pack()`,
    manifest: `declares: [{ point: guardrailPacks, spec: { id: 'test.styled', phases: pack.phases } }],`,
    setup: `ctx.provide(guardrailPacks, pack)`,
  })
  const thread = createPackThread({
    worker: new URL('../../../plugins/standard/pack-worker.ts', import.meta.url),
    start: { module, config: {} },
    limits: usualLimits,
    log() {},
    ended() {},
  })
  const told = { reasonCode: 'test.denied', description: 'Denied.', saferAction: 'Do not.' }
  const match = {
    packId: 'test.styled',
    ruleId: 'r',
    matchedField: 'command.executable',
    ...told,
  }
  const input = (command: string) =>
    ({ kind: 'command', phase: 'harness_pre_tool', command }) as const
  try {
    expect(await thread.open()).toEqual([
      {
        id: 'test.styled',
        version: '1.0.0',
        summary: 'A test.',
        phases: ['harness_pre_tool'],
        rules: [{ id: 'r', ...told }],
      },
    ])
    expect(await thread.ask('evaluate', 'test.styled', input('deny'))).toEqual(match)
    expect(await thread.ask('evaluate', 'test.styled', input('pass'))).toBeUndefined()
    expect(await thread.ask('explain', 'test.styled', input('deny'))).toEqual({
      reading: 'read',
      match,
    })
  } finally {
    thread.close()
  }
}, 20_000)

afterAll(() => files.remove())
