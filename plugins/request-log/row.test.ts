import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createPolicies, payloadPolicy } from './policy.ts'
import { encodeRow, isLogged } from './row.ts'
import { limitedBytes, limitedText } from './safe-text.ts'
import { attempt, exchange, noon, serviceAccount, user } from './testing.ts'

const policy = payloadPolicy('summary_only')
const encode = (changes = {}) =>
  JSON.parse(encodeRow(exchange(changes), policy, noon.getTime()).json)

describe('who is logged', () => {
  test.each([
    ['summary_only', user(), true],
    ['summary_only', user({ logging: false }), false],
    ['summary_only', serviceAccount(), true],
    ['summary_only', undefined, true],
    ['disabled', user(), false],
    ['disabled', serviceAccount(), false],
    ['disabled', undefined, false],
  ] as const)('%s, caller %#: %s', (mode, principal, logged) => {
    expect(isLogged(principal, payloadPolicy(mode))).toBe(logged)
  })

  test('a request is logged under the config that it began with', () => {
    const policies = createPolicies()
    policies.accept('v1', policy)
    policies.accept('v2', payloadPolicy('disabled'))
    expect(policies.of('v1').capture_mode).toBe('summary_only')
    expect(policies.of('v2').capture_mode).toBe('disabled')
    expect(policies.of('never seen').capture_mode).toBe('disabled')
  })

  test('old config versions are forgotten, the one that is accepted again is not', () => {
    const policies = createPolicies()
    policies.accept('back and forth', policy)
    for (let n = 0; n < 100; n += 1) {
      policies.accept(`v${n}`, payloadPolicy('disabled'))
      policies.accept('back and forth', policy)
    }
    policies.accept('last', payloadPolicy('disabled'))
    expect(policies.of('back and forth').capture_mode).toBe('summary_only')
    expect(policies.of('v0').capture_mode).toBe('disabled')
  })
})

describe('a row', () => {
  test('has its time inside its id', () => {
    const row = encode()
    expect(Number.parseInt(row.id.replaceAll('-', '').slice(0, 12), 16)).toBe(noon.getTime())
    expect(row.occurred_at).toBe(noon.toISOString())
  })

  test('names the harness and keeps 512 characters of the User-Agent', () => {
    const row = encode({ userAgent: `aider/${'x'.repeat(1_000)}` })
    expect(row.agent_harness_key).toBe('aider')
    expect(row.user_agent).toHaveLength(512)
  })

  test('keeps apart what is not known and what is zero', () => {
    const row = encode({ exposedToolCount: undefined, invokedToolCount: 0 })
    expect(row).not.toHaveProperty('exposed_tool_count')
    expect(row.invoked_tool_count).toBe(0)
  })

  test('has no price when nothing went to the ledger', () => {
    const row = encode({ settlement: { kind: 'none' } })
    expect(row).not.toHaveProperty('pricing_status')
    expect(row).not.toHaveProperty('cost_pico_usd')
  })

  test('is bounded and storable, whatever the caller and the upstream say', () => {
    const text = fc.string({ unit: 'binary', maxLength: 6_000 })
    fc.assert(
      fc.property(text, text, text, (model, message, userAgent) => {
        const changes = { requestedModel: model, errorMessage: message, userAgent }
        const json = encodeRow(
          exchange({ ...changes, attempts: [attempt({ errorMessage: message })] }),
          policy,
          noon.getTime(),
        ).json
        expect(json).not.toMatch(/\\u0000|\\ud[89a-f]/)
        const row = JSON.parse(json)
        expect(row.model_key.length).toBeLessThanOrEqual(512)
        expect(Buffer.byteLength(row.error_message)).toBeLessThanOrEqual(2_048)
        expect(Buffer.byteLength(row.attempts[0].error_message)).toBeLessThanOrEqual(2_048)
      }),
    )
  })
})

describe('safe text', () => {
  test('loses NUL characters and halves of characters', () => {
    expect(limitedText('a\0b\ud83d', 10)).toBe('ab\ufffd')
    expect(limitedText('ab😀', 3)).toBe('ab\ufffd')
  })

  test('fills a limit in bytes with whole characters', () => {
    expect(limitedBytes('ä'.repeat(10), 5)).toBe('ää')
    expect(limitedBytes('😀😀', 7)).toBe('😀')
    expect(limitedBytes('plain', 5)).toBe('plain')
    expect(limitedBytes(undefined, 5)).toBeUndefined()
  })
})
