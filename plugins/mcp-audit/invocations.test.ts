import { fullGC } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import type { McpInvocation } from 'model-gateway/mcp'
import { GatewayError, type JsonValue } from 'model-gateway/plugin'
import pino from 'pino'
import type { HeldFile, WriteAhead } from '../_shared/write-ahead.ts'
import { createInvocations } from './invocations.ts'
import { noPayloads, type PayloadPolicy } from './policy.ts'
import type { WrittenRow } from './rows.ts'
import { sessionHash } from './sessions/sessions.ts'
import type { Store } from './store.ts'

const call: McpInvocation = {
  invocationId: Bun.randomUUIDv7(),
  requestId: 'r-1',
  jsonRpcId: '1',
  sessionId: 's-1',
  protocolVersion: undefined,
  principal: {
    apiKeyId: 'key',
    ownershipScopeKey: 'user:ada',
    owner: { kind: 'user', userId: 'ada', key: 'ada', requestLoggingEnabled: true },
  } as unknown as McpInvocation['principal'],
  serverId: 'server',
  serverKey: 'tools',
  toolId: undefined,
  toolName: 'search',
  arguments: { q: 'x' },
  awaitsVerdict: false,
}

const file = {} as HeldFile

function start(options: {
  add?: WriteAhead['add']
  find?: Store['find']
  sweep?: Store['sweep']
  policy?: Partial<PayloadPolicy>
  now?: () => Date
}) {
  const pushed: WrittenRow[] = []
  const released: HeldFile[] = []
  const logged: string[] = []
  const lost: number[] = []
  const held: (readonly string[])[] = []
  const over: unknown[] = []
  const store: Partial<Store> = {
    find: options.find ?? (async () => undefined),
    hold: async (ids) => void held.push(ids),
    sweep: options.sweep ?? (async () => []),
  }
  const invocations = createInvocations({
    store: store as Store,
    ahead: {
      add: options.add ?? (async () => file),
      release: (held) => void released.push(held),
    },
    leaseMs: 1_000,
    resumeMs: 1_000,
    push: (row) => void pushed.push(row),
    policy: () => ({ ...noPayloads, ...options.policy }),
    async orUnavailable(work) {
      const late = Bun.sleep(200).then(() => {
        throw new GatewayError('store_unavailable', 'late')
      })
      return await Promise.race([work(), late])
    },
    finished: (_, ...how) => void over.push(how),
    lost: () => void lost.push(1),
    now: options.now ?? (() => new Date()),
    log: pino({}, { write: (line: string) => void logged.push(JSON.parse(line).msg) }),
  })
  return { ...invocations, pushed, released, logged, lost, held, over }
}

const full = async () => {
  throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
}

describe('a call is sent', () => {
  test('when the disk has its row, whatever the database does', async () => {
    const written: string[] = []
    const { open, pushed, released } = start({
      async add(record) {
        written.push(record)
        return file
      },
    })
    await open(call)
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ kind: 'open', tool_name: 'search' })
    await Bun.sleep(100)
    expect(pushed.map(({ json }) => json)).toEqual(written)
    expect(released).toEqual([])
    pushed[0]?.settled?.()
    expect(released).toEqual([file])
  })

  test('when the database has its row, if the disk takes none', async () => {
    const { open, pushed, logged } = start({ add: full })
    let isOpen = false
    const opening = open(call).then(() => {
      isOpen = true
    })
    await Bun.sleep(20)
    expect(isOpen).toBe(false)
    pushed[0]?.settled?.()
    await opening
    expect(logged).toEqual(['tool calls cannot be written to disk; each waits for the database'])
  })

  test('a full disk is logged once, and the next one again', async () => {
    let isFull = true
    const { open, pushed, logged } = start({ add: () => (isFull ? full() : Promise.resolve(file)) })
    async function openWhen(isFullNow: boolean) {
      isFull = isFullNow
      const opening = open(call)
      await Bun.sleep(0)
      for (const row of pushed) row.settled?.()
      await opening
    }
    await openWhen(true)
    await openWhen(true)
    expect(logged).toHaveLength(1)
    await openWhen(false)
    await openWhen(true)
    expect(logged).toHaveLength(2)
  })

  test('not at all, when the row is lost, and that is known at once', async () => {
    const { open, pushed } = start({ add: full })
    const opening = open(call)
    await Bun.sleep(20)
    pushed[0]?.dropped?.()
    await expect(opening).rejects.toThrow('the queue for the database is full')
  })

  test('not at all, when neither takes it', async () => {
    const { open } = start({ add: full })
    expect(open(call)).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})

describe('a call that is over soon', () => {
  const policy = { captures: true, requestMaxBytes: 999, responseMaxBytes: 999 }
  const success = { status: 'success', latencyMs: 1, responseBytes: 9, result: { r: 'R' } } as const

  test('is written once, and the disk may forget it then', async () => {
    const { open, pushed, released } = start({ policy })
    const row = await open(call)
    row.close(success)
    await Bun.sleep(100)
    expect(pushed).toHaveLength(1)
    expect(JSON.parse(pushed[0]?.json ?? '')).toMatchObject({
      kind: 'open',
      id: call.invocationId,
      tool_name: 'search',
      status: 'success',
      response_bytes: 9,
    })
    expect(pushed[0]?.payload).toContain('"q":"x"')
    expect(pushed[0]?.payload).toContain('"r":"R"')
    expect(released).toEqual([])
    pushed[0]?.settled?.()
    expect(released).toEqual([file])
  })

  test('has the arguments that a guard has let pass, and no others', async () => {
    const { open, pushed } = start({ policy })
    const row = await open({ ...call, arguments: { q: 'SECRET' }, awaitsVerdict: true })
    row.judged({ policyResult: 'allowed', arguments: { q: 'MASKED' } })
    row.close(success)
    expect(pushed[0]?.payload).toContain('MASKED')
    expect(JSON.stringify(pushed)).not.toContain('SECRET')
  })

  test('is written without what cannot be made text, and so are the others', async () => {
    const one = start({ policy })
    const toJSON = () => {
      throw new Error('no text')
    }
    const bad = { ...call, arguments: { toJSON } as unknown as JsonValue }
    const rows = [await one.open(bad), await one.open(bad), await one.open(call)]
    rows[0]?.close(success)
    one.flush()
    expect(one.pushed.map(({ json }) => JSON.parse(json).kind)).toEqual(['open', 'open', 'open'])
    expect(one.pushed.map(({ payload }) => payload !== undefined)).toEqual([false, false, true])
    expect(one.logged).toContain('recording the result of a tool call failed')
    expect(one.logged).toContain('recording the arguments of a tool call failed')
  })

  test('is written twice when it takes longer, and when the gateway ends', async () => {
    const one = start({ policy })
    const slow = await one.open(call)
    await Bun.sleep(100)
    slow.close(success)
    const last = await one.open({ ...call, invocationId: Bun.randomUUIDv7() })
    one.flush()
    last.close(success)
    expect(one.pushed.map(({ json }) => JSON.parse(json).kind)).toEqual([
      'open',
      'close',
      'open',
      'close',
    ])
  })
})

describe('a call whose answer may come on another connection', () => {
  const hash = sessionHash('s-1')
  const closings = ({ pushed }: ReturnType<typeof start>) =>
    pushed.map(({ json }) => JSON.parse(json)).filter(({ status }) => status !== undefined)

  test.each([
    ['before it is left', true],
    ['after that', false],
  ])('is over when its session ends %s', async (_, endsFirst) => {
    const one = start({})
    const handle = await one.open(call)
    if (endsFirst) one.end(`server ${hash}`)
    expect(closings(one)).toEqual([])
    handle.leave()
    if (!endsFirst) one.end(`server ${hash}`)
    expect(closings(one)).toMatchObject([{ status: 'incomplete', latency_ms: expect.any(Number) }])
  })

  test('is not over when another session ends', async () => {
    const one = start({})
    const handle = await one.open(call)
    handle.leave()
    one.end(`server ${sessionHash('s-11')}`)
    one.end(`other ${hash}`)
    expect(closings(one)).toEqual([])
  })

  test('has its arguments written as it is left, and they are kept no longer', async () => {
    const one = start({ policy: { captures: true, requestMaxBytes: 999, responseMaxBytes: 999 } })
    const handle = await one.open({ ...call, awaitsVerdict: true })
    handle.judged({ policyResult: 'allowed', arguments: { q: 'MASKED' } })
    handle.leave()
    handle.close({ status: 'success', latencyMs: 1, responseBytes: 1, result: { r: 'RESULT' } })
    const [opened, left, closed] = one.pushed
    expect(opened?.payload).toBeUndefined()
    expect(left?.payload).toContain('MASKED')
    expect(closed?.json).toContain('"policy_result":"allowed"')
    expect(closed?.payload).toContain('RESULT')
    expect(closed?.payload).not.toContain('MASKED')
  })

  test('has arguments that no guard looks at written as it is left, too, and not kept', async () => {
    const one = start({ policy: { captures: true, requestMaxBytes: 999, responseMaxBytes: 999 } })
    const all: WeakRef<object>[] = []
    async function leave(id: number) {
      const args = { q: 'x' }
      all.push(new WeakRef(args))
      const handle = await one.open({ ...call, jsonRpcId: String(id), arguments: args })
      handle.leave()
      return handle
    }
    const handles = await Promise.all(Array.from({ length: 200 }, (_, id) => leave(id)))
    expect(one.pushed[0]?.payload).toContain('"q":"x"')
    // They are in the database.
    one.pushed.length = 0
    await Bun.sleep(10)
    fullGC()
    // The engine may still have some of them on its stack.
    expect(all.filter((args) => args.deref() !== undefined).length).toBeLessThan(100)
    expect(handles).toHaveLength(200)
  })

  test('is looked for in the database when many were left after it', async () => {
    const looked: unknown[] = []
    const one = start({
      async find(_, { key }) {
        looked.push(key)
        return {
          id: call.invocationId,
          occurredAt: new Date(),
          verdict: undefined,
        }
      },
    })
    for (let id = 0; id <= 50_000; id++) {
      const handle = await one.open({ ...call, jsonRpcId: String(id) })
      handle.leave()
    }
    const session = { serverId: 'server', sessionId: 's-1' }
    expect(await one.reopen(session, '1')).toBeDefined()
    expect(looked).toEqual([])
    expect(await one.reopen(session, '0')).toBeDefined()
    expect(looked).toEqual(['0'])
  })
})

test('a denial is kept, whatever a guard says later', async () => {
  const { open, pushed, over } = start({})
  const row = await open(call)
  row.judged({ policyResult: 'denied', guardrailDecisionId: 'd-1' })
  row.judged({ policyResult: 'allowed', guardrailDecisionId: 'd-2' })
  row.close({ status: 'policy_denied', latencyMs: 1, responseBytes: 0 })
  expect(JSON.parse(pushed[0]?.json ?? '')).toMatchObject({
    policy_result: 'denied',
    guardrail_decision_id: 'd-1',
  })
  expect(over).toEqual([['policy_denied', 'denied', 1]])
})

test('only calls whose reply is not over are held', async () => {
  const { open, hold, held, over } = start({})
  const first = await open(call)
  const other = { ...call, invocationId: Bun.randomUUIDv7(), jsonRpcId: '2' }
  await open(other)
  await hold()
  first.close({ status: 'success', latencyMs: 1, responseBytes: 9 })
  await hold()
  expect(held).toEqual([[call.invocationId, other.invocationId], [other.invocationId]])
  expect(over).toEqual([['success', 'not_evaluated', 1]])
})

test('a call whose reply may come elsewhere is known here for as long as that', async () => {
  let at = Date.parse('2026-04-01')
  const looked: string[] = []
  const { open, reopen, hold } = start({
    find: async (_, { key }) => {
      looked.push(key)
      return undefined
    },
    now: () => new Date(at),
  })
  const session = { serverId: 'server', sessionId: 's-1' }
  const leave = async (jsonRpcId: string) => {
    const row = await open({ ...call, invocationId: Bun.randomUUIDv7(), jsonRpcId })
    row.leave()
    return row
  }
  await leave('1')
  at += 600
  const later = await leave('2')
  at += 600
  await hold()
  expect(await reopen(session, '2')).toBe(later)
  expect(looked).toEqual([])
  expect(await reopen(session, '1')).toBeUndefined()
  expect(looked).toEqual(['1', '1'])
})

test('calls of dead processes are counted as incomplete', async () => {
  const given: { serverId: string }[] = [{ serverId: 'a' }, { serverId: 'b' }]
  const { sweep, over, logged } = start({ sweep: async () => given.splice(0) })
  await sweep()
  await sweep()
  expect(over).toEqual([
    ['incomplete', 'not_evaluated'],
    ['incomplete', 'not_evaluated'],
  ])
  expect(logged).toEqual(['tool calls were left incomplete'])
})

test('the end waits for answers whose rows are being looked for', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const { reopen, lookedUp } = start({ find: () => promise })
  const looking = reopen({ serverId: 'server', sessionId: 's-1' }, '1')
  let isOver = false
  const over = lookedUp().then(() => {
    isOver = true
  })
  await Bun.sleep(100)
  expect(isOver).toBe(false)
  resolve(undefined)
  await looking
  await over
})

test('a row that another replica has not written yet is looked for again', async () => {
  let looks = 0
  const found = {
    id: call.invocationId,
    occurredAt: new Date(),
    serverId: 'server',
    verdict: undefined,
  }
  const policy = { captures: true, requestMaxBytes: 999, responseMaxBytes: 999 }
  const find = async () => (++looks === 1 ? undefined : found)
  const { reopen, lookedUp, pushed } = start({ find, policy })
  const row = await reopen({ serverId: 'server', sessionId: 's-1' }, '1')
  expect(looks).toBe(2)
  await lookedUp()
  // Only the process that opened the row knows whether payloads may be stored.
  row?.close({ status: 'success', latencyMs: 1, responseBytes: 9, result: { r: 'R' } })
  expect(pushed.map(({ payload }) => payload)).toEqual([undefined])
})

test('no payload is stored for a caller who has opted out of logging', async () => {
  const policy = { captures: true, requestMaxBytes: 999, responseMaxBytes: 999 }
  const { open, pushed } = start({ policy })
  const { principal } = call
  const owner = { ...principal.owner, requestLoggingEnabled: false } as typeof principal.owner
  const row = await open({ ...call, principal: { ...principal, owner } })
  row.close({ status: 'success', latencyMs: 1, responseBytes: 9, result: { r: 'R' } })
  expect(pushed.map(({ payload }) => payload)).toEqual([undefined])
})

test('a response belongs to the later of two calls with its id, even if the earlier one has ended', async () => {
  const { open, reopen } = start({})
  const earlier = await open(call)
  const later = await open({ ...call, invocationId: Bun.randomUUIDv7() })
  earlier.close({ status: 'cancelled', latencyMs: 1, responseBytes: 0 })
  expect(await reopen({ serverId: 'server', sessionId: 's-1' }, '1')).toBe(later)
})

test('a call that is over stays as it ended, while the database does not know yet', async () => {
  const found = { ...call, id: call.invocationId, occurredAt: new Date(), verdict: undefined }
  const { open, reopen, flush, pushed } = start({ find: async () => found })
  const session = { serverId: 'server', sessionId: 's-1' }
  const row = await open(call)
  flush()
  row.close({ status: 'success', latencyMs: 100, responseBytes: 9 })
  expect(pushed.map(({ json }) => JSON.parse(json).kind)).toEqual(['open', 'close'])
  expect(await reopen(session, '1')).toBeUndefined()
  for (const { settled } of pushed) settled?.()
  expect(await reopen(session, '1')).toBeDefined()
})

test('a late response to an ended call is not taken for the next call with its id', async () => {
  const found = { id: call.invocationId, verdict: undefined }
  let looks = 0
  const { open, reopen } = start({
    async find() {
      looks++
      return looks === 1 ? undefined : { ...found, occurredAt: new Date() }
    },
  })
  const late = reopen({ serverId: 'server', sessionId: 's-1' }, '1')
  await Bun.sleep(10)
  await open(call)
  expect(await late).toBeUndefined()
  expect(looks).toBe(2)
})

test('a server that answers many unknown calls does not block the database for others', async () => {
  let looks = 0
  let most = 0
  const { reopen, lost } = start({
    async find() {
      most = Math.max(most, ++looks)
      await Bun.sleep(5)
      looks--
      return undefined
    },
  })
  const ids = Array.from({ length: 1000 }, (_, n) => `"u${n}"`)
  await Promise.all(ids.map((id) => reopen({ serverId: 'server', sessionId: 's-1' }, id)))
  expect(most).toBe(100)
  expect(lost).toHaveLength(900)
  await reopen({ serverId: 'server', sessionId: 's-1' }, '"u1"')
  expect(lost).toHaveLength(900)
})
