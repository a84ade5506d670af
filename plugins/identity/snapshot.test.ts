import { expect, test } from 'bun:test'
import { GatewayError } from 'model-gateway/plugin'
import { generateKey, hashSecret } from './keys.ts'
import { createSnapshot } from './snapshot.ts'
import type { KeyRecord } from './store.ts'

/** A store whose content and faults the test decides. */
function fakeSource() {
  const state = {
    revision: 1n,
    keys: new Map<string, KeyRecord>(),
    down: false,
    looks: 0,
    /** Makes the next look wait. */
    gate: Promise.resolve(),
  }
  return {
    state,
    add(overrides: Partial<KeyRecord> = {}) {
      const key = generateKey()
      state.keys.set(key.publicId, {
        principal: {
          apiKeyId: `id-${key.publicId}`,
          owner: {
            kind: 'user',
            userId: 'u',
            email: 'a@b.c',
            name: 'A',
            team: undefined,
            requestLoggingEnabled: true,
          },
          ownershipScopeKey: 'user:u',
          grants: 'all',
          allowlists: [],
        },
        secretHash: hashSecret(key.secret),
        previous: undefined,
        revoked: false,
        expiresAt: Number.POSITIVE_INFINITY,
        ownerActive: true,
        lastUsedAt: 0,
        ...overrides,
      })
      state.revision++
      return key.raw
    },
    async readRevision() {
      state.looks++
      await state.gate
      if (state.down) throw new Error('down')
      return state.revision
    },
    async readKeys() {
      // As the real one: fresh records each time.
      const keys = new Map([...state.keys].map(([id, record]) => [id, { ...record }]))
      return { revision: state.revision, keys }
    },
  }
}

async function start() {
  const source = fakeSource()
  const clock = { at: Date.now() }
  const snapshot = createSnapshot(source, () => clock.at)
  snapshot.setMaxAge(300_000)
  await snapshot.check()
  return { source, snapshot, clock, state: source.state }
}

async function refusal(run: () => unknown): Promise<string> {
  try {
    await run()
    return 'accepted'
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return error.code
  }
}

const wrongSecret = (raw: string) => `${raw.slice(0, -1)}${raw.endsWith('A') ? 'B' : 'A'}`

test('no key is accepted before the first read', async () => {
  const source = fakeSource()
  const snapshot = createSnapshot(source, Date.now)
  expect(await refusal(() => snapshot.authenticate(source.add()))).toBe('store_unavailable')
})

test('a key that is known is answered at once, without a look', async () => {
  const { source, snapshot, state } = await start()
  const raw = source.add()
  await snapshot.check()
  const { looks } = state
  const first = snapshot.authenticate(raw)
  expect(first).not.toBeInstanceOf(Promise)
  expect(snapshot.authenticate(raw)).toBe(first)
  expect(state.looks).toBe(looks)
})

test('the secret is compared first, then refusals follow their order', async () => {
  const { source, snapshot, clock } = await start()
  const past = clock.at - 1
  const all = source.add({ revoked: true, expiresAt: past, ownerActive: false })
  const late = source.add({ expiresAt: past, ownerActive: false })
  const inactive = source.add({ ownerActive: false })
  await snapshot.check()
  for (const raw of [all, late, inactive]) {
    expect(await refusal(() => snapshot.authenticate(wrongSecret(raw)))).toBe(
      'api_key_secret_mismatch',
    )
  }
  expect(await refusal(() => snapshot.authenticate(all))).toBe('api_key_revoked')
  expect(await refusal(() => snapshot.authenticate(late))).toBe('api_key_expired')
  expect(await refusal(() => snapshot.authenticate(inactive))).toBe('api_key_owner_inactive')
  expect(await refusal(() => snapshot.authenticate('gwk_nonsense'))).toBe('invalid_api_key_format')
  expect(snapshot.takeUses().size).toBe(0)
})

test('a key that was accepted stops at its expiry, and after a change that revokes it', async () => {
  const { source, snapshot, clock, state } = await start()
  const brief = source.add({ expiresAt: clock.at + 1000 })
  const other = source.add()
  await snapshot.check()
  expect(await refusal(() => snapshot.authenticate(brief))).toBe('accepted')
  expect(await refusal(() => snapshot.authenticate(other))).toBe('accepted')
  clock.at += 1000
  expect(await refusal(() => snapshot.authenticate(brief))).toBe('api_key_expired')

  for (const [id, record] of state.keys) state.keys.set(id, { ...record, revoked: true })
  state.revision++
  expect(await refusal(() => snapshot.authenticate(other))).toBe('accepted')
  await snapshot.check()
  expect(await refusal(() => snapshot.authenticate(other))).toBe('api_key_revoked')
})

test('the secret before opens a key until its time is over, and no third one does', async () => {
  const { source, snapshot, clock } = await start()
  const old = hashSecret('before'.repeat(8))
  const raw = source.add({ previous: { secretHash: old, until: clock.at + 1000 } })
  const before = `${raw.split('.')[0]}.${'before'.repeat(8)}`
  await snapshot.check()
  const third = () => refusal(() => snapshot.authenticate(wrongSecret(before)))
  expect(await third()).toBe('api_key_secret_mismatch')
  expect(await refusal(() => snapshot.authenticate(before))).toBe('accepted')
  expect(await third()).toBe('api_key_secret_mismatch')
  clock.at += 1000
  expect(await refusal(() => snapshot.authenticate(before))).toBe('api_key_secret_mismatch')
  expect(await refusal(() => snapshot.authenticate(raw))).toBe('accepted')
})

test('a wrong secret is refused while the right one is remembered', async () => {
  const { source, snapshot } = await start()
  const raw = source.add()
  await snapshot.check()
  await snapshot.authenticate(raw)
  expect(await refusal(() => snapshot.authenticate(wrongSecret(raw)))).toBe(
    'api_key_secret_mismatch',
  )
})

test('a key that was just made elsewhere is found by looking again', async () => {
  const { source, snapshot } = await start()
  const raw = source.add()
  const principal = snapshot.authenticate(raw)
  expect(principal).toBeInstanceOf(Promise)
  expect((await principal).apiKeyId).toStartWith('id-')
})

test('a clock that was set back does not hold up looking again', async () => {
  const { source, snapshot, clock } = await start()
  expect(await refusal(() => snapshot.authenticate(generateKey().raw))).toBe('api_key_not_found')
  clock.at -= 3_600_000
  expect(await refusal(() => snapshot.authenticate(source.add()))).toBe('accepted')
})

test('unknown ids share few look-ups, and are remembered for five seconds', async () => {
  const { snapshot, clock, state } = await start()
  const before = state.looks
  const junk = Array.from({ length: 200 }, () => generateKey().raw)
  const refusals = await Promise.all(junk.map((raw) => refusal(() => snapshot.authenticate(raw))))
  expect(new Set(refusals)).toEqual(new Set(['api_key_not_found']))
  expect(state.looks - before).toBeLessThanOrEqual(2)

  const again = state.looks
  expect(() => snapshot.authenticate(junk[0] ?? '')).toThrow('The API key does not exist')
  expect(state.looks).toBe(again)
  clock.at += 5_000
  expect(await refusal(() => snapshot.authenticate(junk[0] ?? ''))).toBe('api_key_not_found')
  expect(state.looks).toBe(again + 1)
})

test('an id is not remembered as unknown when the store could not be asked', async () => {
  const { source, snapshot, clock, state } = await start()
  const raw = source.add()
  state.down = true
  expect(await refusal(() => snapshot.authenticate(raw))).toBe('api_key_not_found')
  state.down = false
  clock.at += 100
  expect(await refusal(() => snapshot.authenticate(raw))).toBe('accepted')
})

test('listeners are called for every change, and only for changes', async () => {
  const { source, snapshot } = await start()
  let told = 0
  const stop = snapshot.onChange(() => told++)
  await snapshot.check()
  expect(told).toBe(0)
  source.add()
  await snapshot.check()
  await snapshot.check()
  expect(told).toBe(1)
  await stop()
  source.add()
  await snapshot.check()
  expect(told).toBe(1)
})

test('without its store the last state serves as long as it may, and not longer', async () => {
  const { source, snapshot, clock, state } = await start()
  const raw = source.add()
  await snapshot.check()
  state.down = true
  expect(snapshot.health()).toEqual({ status: 'ok' })
  clock.at += 300_000
  await expect(snapshot.check()).rejects.toThrow('down')
  expect(snapshot.health()).toEqual({ status: 'degraded', details: { stale_secs: 300 } })
  expect(await refusal(() => snapshot.authenticate(raw))).toBe('accepted')
  expect(await refusal(() => snapshot.authenticate(generateKey().raw))).toBe('api_key_not_found')
  clock.at += 1
  expect(await refusal(() => snapshot.authenticate(raw))).toBe('store_unavailable')
  expect(snapshot.health()).toMatchObject({ status: 'failing' })
  state.down = false
  await snapshot.check()
  expect(snapshot.health()).toEqual({ status: 'ok' })
  expect(await refusal(() => snapshot.authenticate(raw))).toBe('accepted')
})

test('a store that was away is read again: a standby may count another change under the same number', async () => {
  const { source, snapshot, state } = await start()
  const raw = source.add()
  await snapshot.check()
  state.down = true
  await expect(snapshot.check()).rejects.toThrow('down')
  for (const [id, record] of state.keys) state.keys.set(id, { ...record, revoked: true })
  state.down = false
  await snapshot.check()
  expect(await refusal(() => snapshot.authenticate(raw))).toBe('api_key_revoked')
})

test('no patience at all refuses from the first look that fails, or that does not come back', async () => {
  const { source, snapshot, clock, state } = await start()
  const raw = source.add()
  snapshot.setMaxAge(0)
  await snapshot.check()
  clock.at += 1_500
  expect(await refusal(() => snapshot.authenticate(raw))).toBe('accepted')
  expect(snapshot.health()).toEqual({ status: 'ok' })

  state.down = true
  await expect(snapshot.check()).rejects.toThrow('down')
  expect(await refusal(() => snapshot.authenticate(raw))).toBe('store_unavailable')
  expect(snapshot.health()).toEqual({ status: 'failing', details: { stale_secs: 1 } })
  state.down = false
  await snapshot.check()
  expect(await refusal(() => snapshot.authenticate(raw))).toBe('accepted')

  const gate = Promise.withResolvers<void>()
  state.gate = gate.promise
  const stuck = snapshot.check()
  clock.at += 5_001
  expect(await refusal(() => snapshot.authenticate(raw))).toBe('store_unavailable')
  gate.resolve()
  await stuck
})

test('a check that comes while another runs sees what was written before it came', async () => {
  const { source, snapshot, state } = await start()
  const gate = Promise.withResolvers<void>()
  state.gate = gate.promise
  const early = snapshot.check()
  await Bun.sleep(1)
  const raw = source.add()
  const late = Promise.all([snapshot.check(), snapshot.check()])
  const { looks } = state
  gate.resolve()
  await early
  await late
  expect(state.looks).toBe(looks + 1)
  expect(snapshot.authenticate(raw)).not.toBeInstanceOf(Promise)
})

test('a use is noted once a minute, over reloads too, and can be given back', async () => {
  const { source, snapshot, clock } = await start()
  const raw = source.add()
  await snapshot.check()
  await snapshot.authenticate(raw)
  const uses = snapshot.takeUses()
  expect([...uses.values()]).toEqual([clock.at])
  source.add()
  await snapshot.check()
  clock.at += 59_999
  await snapshot.authenticate(raw)
  expect(snapshot.takeUses().size).toBe(0)
  clock.at += 1
  await snapshot.authenticate(raw)
  snapshot.returnUses(uses)
  expect([...snapshot.takeUses().values()]).toEqual([clock.at])
  snapshot.returnUses(uses)
  expect(snapshot.takeUses()).toEqual(uses)
})
