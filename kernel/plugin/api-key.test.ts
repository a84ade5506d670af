import { describe, expect, test } from 'bun:test'
import { presentedKey } from './api-key.ts'
import { GatewayError } from './errors.ts'

function present(headers: Record<string, string>) {
  try {
    return presentedKey((name) => headers[name] ?? null)
  } catch (error) {
    if (error instanceof GatewayError) return error.code
    throw error
  }
}

describe('the API key of a request', () => {
  test.each(['authorization', 'x-api-key', 'x-gateway-api-key'])('comes in %s', (name) => {
    expect(present({ [name]: name === 'authorization' ? 'Bearer gwk_a.b' : 'gwk_a.b' })).toBe(
      'gwk_a.b',
    )
  })

  test('the bearer scheme is case-insensitive', () => {
    expect(present({ authorization: 'bearer gwk_a.b' })).toBe('gwk_a.b')
  })

  test('ignores a dummy value next to a real key', () => {
    expect(present({ authorization: 'Bearer dummy', 'x-api-key': 'gwk_a.b' })).toBe('gwk_a.b')
    expect(present({ authorization: 'Basic abc', 'x-gateway-api-key': 'gwk_a.b' })).toBe('gwk_a.b')
  })

  test('the same key twice is one key, two keys are a conflict', () => {
    expect(present({ authorization: 'Bearer gwk_a.b', 'x-api-key': 'gwk_a.b' })).toBe('gwk_a.b')
    expect(present({ authorization: 'Bearer gwk_a.b', 'x-api-key': 'gwk_c.d' })).toBe(
      'conflicting_api_key_headers',
    )
  })

  test('distinguishes a missing key, a missing bearer scheme and a foreign key', () => {
    expect(present({})).toBe('missing_authorization_header')
    expect(present({ authorization: 'Basic abc' })).toBe('invalid_authorization_header')
    expect(present({ authorization: 'Bearer ' })).toBe('invalid_authorization_header')
    expect(present({ authorization: 'Bearer sk-123' })).toBe('invalid_api_key_format')
    expect(present({ 'x-api-key': 'sk-123' })).toBe('invalid_api_key_format')
    expect(present({ 'x-gateway-api-key': 'sk-123' })).toBe('invalid_api_key_format')
    for (const name of ['x-api-key', 'x-gateway-api-key']) {
      expect(present({ authorization: 'Basic abc', [name]: 'sk-1' })).toBe('invalid_api_key_format')
    }
  })

  test('an empty header is none', () => {
    expect(present({ authorization: '', 'x-api-key': '' })).toBe('missing_authorization_header')
  })

  test('accepts only the key after the bearer scheme, and nothing before the scheme', () => {
    for (const authorization of ['Bearer gwk_a.b more', 'Not bearer gwk_a.b']) {
      expect(present({ authorization })).toBe('invalid_authorization_header')
    }
  })
})
