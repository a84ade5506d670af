import { expect, test } from 'bun:test'
import { wordCheck } from './__fixtures__/word-check.ts'
import { CheckFailure, type ManagedCheck } from './contract.ts'
import { createTurns, runCheck } from './managed.ts'

const check = (changes: Partial<Parameters<typeof runCheck>[0]> = {}) => ({
  name: 'words',
  kind: 'word_list',
  phases: ['prompt' as const],
  timeoutMs: 50,
  maxContentBytes: 100,
  check: wordCheck('DENIED'),
  turns: createTurns(2),
  ...changes,
})

test('the size counts over all texts, in bytes', async () => {
  const texts = ['é'.repeat(25), 'é'.repeat(25)]
  expect(await runCheck(check(), 'prompt', texts)).toEqual({ kind: 'allow' })
  expect(await runCheck(check(), 'prompt', [...texts, 'x'])).toMatchObject({
    reason: 'managed.content_too_large',
  })
})

test('a denial of one text ends the work on the others', async () => {
  const start = performance.now()
  const outcome = await runCheck(check({ timeoutMs: 60_000 }), 'prompt', ['HANG', 'DENIED'])
  expect(outcome).toEqual({ kind: 'deny', reasonCode: 'word.denied' })
  expect(performance.now() - start).toBeLessThan(1_000)
})

test('a denial that comes after a failure is still a denial', async () => {
  const outcome = await runCheck(check(), 'prompt', ['FAIL:managed.rate_limited', 'SLOW DENIED'])
  expect(outcome).toEqual({ kind: 'deny', reasonCode: 'word.denied' })
})

/** A check that gives this, or throws it. */
const saying = (verdict: unknown) =>
  check({
    check: {
      async evaluate() {
        if (verdict instanceof Error) throw verdict
        return verdict as never
      },
    },
  })

test.each([[undefined], [7], [''], ['found ada@example.com'], ['Denied.Here'], ['a.b\n']])(
  'a denial with the reason %p is a denial, and the reason is not reported',
  async (reasonCode) => {
    const outcome = await runCheck(saying({ action: 'deny', reasonCode }), 'prompt', ['text'])
    expect(outcome).toEqual({ kind: 'deny', reasonCode: 'managed.denied' })
  },
)

test.each([[undefined], [true], [{ action: 'block' }], [{ action: 'transformed' }]])(
  'an invalid verdict (%p) is a failure that is logged',
  async (verdict) => {
    expect(await runCheck(saying(verdict), 'prompt', ['text'])).toEqual({
      kind: 'failure',
      reason: 'managed.malformed_response',
      error: new Error('the check did not return a verdict'),
    })
  },
)

test('a text that is put in its own place has not changed', async () => {
  const verdict = { action: 'transformed', text: 'text' }
  expect(await runCheck(saying(verdict), 'prompt', ['text'])).toEqual({ kind: 'allow' })
})

test('a failure of a reason that there is not is managed.unavailable', async () => {
  const failure = new CheckFailure('found ada@example.com' as never, 'no')
  expect(await runCheck(saying(failure), 'prompt', ['text'])).toMatchObject({
    kind: 'failure',
    reason: 'managed.unavailable',
  })
})

test('texts have their turns: never more at once, in order, within one deadline', async () => {
  let running = 0
  let most = 0
  const order: string[] = []
  const counting: ManagedCheck = {
    async evaluate({ text }) {
      order.push(text)
      running += 1
      most = Math.max(most, running)
      await Bun.sleep(2)
      running -= 1
      return { action: 'allow' }
    },
  }
  const texts = Array.from({ length: 9 }, (_, i) => `${i}`)
  const patient = check({ check: counting, timeoutMs: 5_000 })
  await Promise.all([runCheck(patient, 'prompt', texts), runCheck(patient, 'prompt', ['last'])])
  expect(most).toBe(2)
  expect(order).toEqual([...texts, 'last'])
})

test('a text that waits longer than the deadline fails, and takes no turn', async () => {
  const turns = createTurns(1)
  const asked: string[] = []
  const deaf: ManagedCheck = {
    evaluate({ text }) {
      asked.push(text)
      return text === 'deaf' ? new Promise(() => {}) : Promise.resolve({ action: 'allow' })
    },
  }
  const first = runCheck(check({ check: deaf, turns, timeoutMs: 60 }), 'prompt', ['deaf'])
  const second = runCheck(check({ check: deaf, turns, timeoutMs: 10 }), 'prompt', ['waits'])
  expect(await second).toMatchObject({ reason: 'managed.timeout' })
  expect(await first).toMatchObject({ reason: 'managed.timeout' })
  expect(asked).toEqual(['deaf'])
  // Work that never ends frees its turn at the deadline.
  expect(await runCheck(check({ check: deaf, turns }), 'prompt', ['next'])).toEqual({
    kind: 'allow',
  })
})

test('no turn is lost, at whatever moment the one whose turn it is gives up', async () => {
  for (let moment = 0; moment < 10; moment++) {
    const turns = createTurns(1)
    const stop = new AbortController()
    const first = Promise.withResolvers<void>()
    const before = turns.until(new AbortController().signal)(() => first.promise)
    const waits = turns
      .until(stop.signal)(async () => {})
      .catch(() => {})
    first.resolve()
    for (let n = 0; n < moment; n++) await Promise.resolve()
    stop.abort()
    await Promise.all([before, waits])
    const next = turns.until(AbortSignal.timeout(5_000))(async () => 'its turn')
    expect(await next).toBe('its turn')
  }
})

test('a hundred thousand short texts do not hold up the others', async () => {
  let last = performance.now()
  let longest = 0
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 5)
  const slow: ManagedCheck = {
    async evaluate() {
      await Bun.sleep(5)
      return { action: 'allow' }
    },
  }
  const texts = new Array<string>(100_000).fill('a')
  const limits = { timeoutMs: 200, maxContentBytes: 262_144 }
  expect(await runCheck(check({ check: slow, ...limits }), 'prompt', texts)).toMatchObject({
    reason: 'managed.timeout',
  })
  clearInterval(timer)
  expect(longest).toBeLessThan(2_000)
}, 120_000)
