import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createConfigVersions } from '../_shared/config-versions.ts'
import { limitedBytes, limitedText } from '../_shared/safe-text.ts'
import { fromRecord, isLogged, toRecord } from './row.ts'
import { attempt, encodedRow, exchange, noon, policy, serviceAccount, user } from './testing.ts'

const encode = (changes = {}) => JSON.parse(encodedRow(exchange(changes)).json)

describe('who is logged', () => {
  test.each([
    ['summary_only', user(), true],
    ['summary_only', user({ logging: false }), false],
    ['summary_only', serviceAccount(), true],
    ['redacted_payloads', user(), true],
    ['redacted_payloads', user({ logging: false }), false],
    ['redacted_payloads', serviceAccount(), true],
    ['disabled', user(), false],
    ['disabled', serviceAccount(), false],
  ] as const)('%s, caller %#: %s', (mode, principal, logged) => {
    expect(isLogged(principal, policy({ capture_mode: mode }))).toBe(logged)
  })

  test('a request is logged with the config that it began with', () => {
    const [first, second] = [policy(), policy({ capture_mode: 'disabled' })]
    const policies = createConfigVersions(first)
    policies.accept('v1', first)
    policies.accept('v2', second)
    expect(policies.of('v1')).toBe(first)
    expect(policies.of('v2')).toBe(second)
    expect(policies.of('never seen')).toBe(second)
    expect(policies.latest()).toBe(second)
  })

  test('old config versions are forgotten, except one that is accepted again', () => {
    const [kept, other] = [policy(), policy({ capture_mode: 'disabled' })]
    const policies = createConfigVersions(kept)
    policies.accept('back and forth', kept)
    for (let n = 0; n < 100; n += 1) {
      policies.accept(`v${n}`, other)
      policies.accept('back and forth', kept)
    }
    policies.accept('last', other)
    expect(policies.of('back and forth')).toBe(kept)
    expect(policies.of('v0')).toBe(other)
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

  test('distinguishes unknown values from zero', () => {
    const row = encode({ exposedToolCount: undefined, invokedToolCount: 0 })
    expect(row).not.toHaveProperty('exposed_tool_count')
    expect(row.invoked_tool_count).toBe(0)
  })

  test('has no price without a ledger row', () => {
    const row = encode({ settlement: { kind: 'none' } })
    expect(row).not.toHaveProperty('pricing_status')
    expect(row).not.toHaveProperty('cost_pico_usd')
  })

  test('lists the universal tags with the caller’s tags', () => {
    const tags = {
      service: 'shop',
      component: undefined,
      env: 'prod',
      custom: [{ key: 'run', value: '7' }],
    }
    const row = encode({ tags })
    expect(row).toMatchObject({ service: 'shop', env: 'prod' })
    expect(row).not.toHaveProperty('component')
    expect(row.tags).toEqual([
      { key: 'run', value: '7' },
      { key: 'service', value: 'shop' },
      { key: 'env', value: 'prod' },
    ])
  })

  test('shows no secret that is part of a name or a message', () => {
    const text = 'it was Bearer CANARYsecret42'
    const { json } = encodedRow(
      exchange({
        requestedModel: text,
        errorMessage: text,
        userAgent: text,
        attempts: [attempt({ errorMessage: text })],
      }),
    )
    expect(json).not.toContain('CANARY')
  })

  test('goes through the spool without its payload', () => {
    const row = encodedRow(exchange())
    expect(row.payload).toBeDefined()
    expect(fromRecord(toRecord(row))).toEqual({ ...row, payload: undefined })
  })

  test('is bounded and storable for any text of caller and upstream', () => {
    const text = fc.string({ unit: 'binary', maxLength: 6_000 })
    fc.assert(
      fc.property(text, text, text, (model, message, userAgent) => {
        const changes = { requestedModel: model, errorMessage: message, userAgent }
        const { json } = encodedRow(
          exchange({ ...changes, attempts: [attempt({ errorMessage: message })] }),
        )
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
  test('has no NUL characters and lone surrogates', () => {
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
