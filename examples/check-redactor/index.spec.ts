import { describe, expect, test } from 'bun:test'
import { managedCheckKinds } from 'model-gateway/guardrail'
import { isJsonObject, Secret } from 'model-gateway/plugin'
import {
  json,
  type Reply,
  setUpPlugin,
  startUpstream,
  testManagedCheck,
  testPlugin,
} from 'model-gateway/testing'
import { verdictOf } from './src/findings.ts'
import plugin from './src/index.ts'
import { isSigned } from './src/signature.ts'

const finding = (from: number, to: number, more: object = {}) => ({
  label: 'email',
  action: 'mask',
  from,
  to,
  ...more,
})

/** Masks the whole text, whatever its length. */
const maskAll: Reply = (x) => {
  const { text } = isJsonObject(x.call.body) ? x.call.body : {}
  return json({ findings: [finding(0, [...String(text)].length)] })(x)
}

testPlugin({ plugin })

testManagedCheck({
  plugin,
  kind: 'redactor',
  config: (serviceUrl) => ({
    url: `${serviceUrl}/judge`,
    key_id: 'k1',
    signing_key: 'literal.canary-4711',
  }),
  answers: {
    allow: json({ findings: [] }),
    deny: json({ findings: [finding(0, 1, { label: 'card_number', action: 'block' })] }),
    transformed: { reply: maskAll, text: '[email]' },
  },
  malformed: [
    json({ findings: 'none' }),
    json({ findings: [finding(3, 2)] }),
    json({ findings: [finding(0, 1, { action: 'whisper' })] }),
    json({ findings: [finding(0, 1, { label: 'No Label' })] }),
    json({ findings: [finding(0, 1_000_000)] }),
    json({ findings: [finding(0, 5), finding(3, 8)] }),
  ],
})

describe('masks', () => {
  test.each([
    ['write to a@b.de, please', [finding(9, 15)], 'write to [email], please'],
    ['😀 a@b.de', [finding(2, 8)], '😀 [email]'],
    ['a@b.de c@d.de', [finding(7, 13), finding(0, 6)], '[email] [email]'],
  ])('%s', (text, findings, masked) => {
    expect(verdictOf({ findings }, text)).toEqual({ action: 'transformed', text: masked })
  })
})

describe('the request', () => {
  const now = new Date('2026-01-31T12:00:00.000Z')

  async function sent() {
    const service = await startUpstream()
    const bench = await setUpPlugin({ plugin, capabilities: { clock: { now: () => now } } })
    try {
      const check = await bench.of(managedCheckKinds)[0]?.create({
        url: service.url,
        key_id: 'k1',
        signing_key: new Secret('canary-4711'),
        max_characters: 10,
      })
      if (check === undefined) throw bench.error
      service.always(json({ findings: [] }))
      const signal = new AbortController().signal
      const tooLong = await check
        .evaluate({ phase: 'prompt', text: 'x'.repeat(11), signal })
        .catch((error) => error)
      await check.evaluate({ phase: 'prompt', text: 'größer', signal })
      return { calls: service.journal.calls, tooLong }
    } finally {
      await bench.dispose()
      await service.stop()
    }
  }

  test('is signed with its time; texts that are too long are not sent', async () => {
    const { calls, tooLong } = await sent()
    expect(tooLong.reason).toBe('managed.content_too_large')
    expect(calls).toHaveLength(1)
    const { headers = {}, rawBody = '' } = calls[0] ?? {}
    const time = Number(headers['x-redactor-time'])
    const signature = headers['x-redactor-signature'] ?? ''
    const seconds = now.getTime() / 1000
    expect(time).toBe(seconds)
    expect(isSigned({ time, body: rawBody }, signature, 'canary-4711', seconds)).toBe(true)
    expect(isSigned({ time, body: `${rawBody} ` }, signature, 'canary-4711', seconds)).toBe(false)
    expect(isSigned({ time, body: rawBody }, signature, 'another', seconds)).toBe(false)
    expect(isSigned({ time, body: rawBody }, signature, 'canary-4711', seconds + 301)).toBe(false)
  })
})
