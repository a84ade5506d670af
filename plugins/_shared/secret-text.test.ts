import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findSecrets, redactText } from './secret-text.ts'

const KEY = 'gwk_abcdefghijklmnop.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8'

describe('a text', () => {
  test.each([
    [`the key is ${KEY}.`, 'the key is [redacted]'],
    [`my${KEY}`, 'my[redacted]'],
    ['Bearer abcdefgh12', '[redacted]'],
    ['use BEARER  abcdefgh12 now', 'use [redacted] now'],
    ['export K=sk-proj-abc_DEF-123', 'export K=[redacted]'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    [
      'https://b.s3.amazonaws.com/o?X-Amz-Date=1&X-Amz-Signature=abc123&x=1',
      'https://b.s3.amazonaws.com/o?X-Amz-Date=1&X-Amz-Signature=[redacted]&x=1',
    ],
    ['https://a.test/b?sv=1&sig=aB%2F1%3D', 'https://a.test/b?sv=1&sig=[redacted]'],
    ['/cb?access_token=xyz#top', '/cb?access_token=[redacted]#top'],
    ['https://a.test/?X%2DAmz%2DSignature=abc', 'https://a.test/?X%2DAmz%2DSignature=[redacted]'],
    ['postgres://joe:hunter2@db/x', 'postgres://[redacted]@db/x'],
    ["curl -H 'x-api-key: hunter2' a", "curl -H 'x-api-key: [redacted]' a"],
    ['curl -H "Authorization: Basic am9lOmh1bg=="', 'curl -H "Authorization: Basic [redacted]"'],
    ['client(api_key="hunter2")', 'client(api_key="[redacted]")'],
    ['a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b', 'a [redacted] b'],
    ['-----BEGIN PRIVATE KEY-----\nMII', '[redacted]'],
    [`/cb?token=xyz is not ${KEY}`, '/cb?token=[redacted] is not [redacted]'],
    ['Authorization: Bearer abcdefgh12 now', 'Authorization: [redacted] now'],
    ['Authorization: Bearer abcdefgh12:more now', 'Authorization: [redacted] now'],
  ])('%p becomes %p', (text, clean) => {
    expect(redactText(text)).toBe(clean)
  })

  test.each([
    ['{"api_key":"hunter2","n":1}', '{"api_key":"[redacted]","n":1}'],
    ['{"Api-Key" : "a\\"b", "c": 1}', '{"Api-Key" : "[redacted]", "c": 1}'],
    ['{"password":12345}', '{"password":"[redacted]"}'],
    ['{"password":null}', '{"password":null}'],
    ['{"credentials":{"user":"a}","list":[1,2]},"n":1}', '{"credentials":"[redacted]","n":1}'],
    ['{"secret":["a","b"]}', '{"secret":"[redacted]"}'],
    [
      '{"x":"{\\"token\\":\\"hunter2\\",\\"n\\":1}"}',
      '{"x":"{\\"token\\":\\"[redacted]\\",\\"n\\":1}"}',
    ],
    ["{'password': 'hunter2'}", "{'password': '[redacted]'}"],
    ['{"token":"hunter', '{"token":"[redacted]'],
  ])('JSON within it, %p, becomes %p', (text, clean) => {
    expect(redactText(text)).toBe(clean)
  })

  test.each(
    [
      ['x_api_key', 'anthropic-api-key', 'x-goog-api-key', 'x-gateway-api-key', 'private_key'],
      ['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'refresh_token', 'secret'],
    ].flat(),
  )('keeps nothing that JSON has under %s, however that is written', (name) => {
    for (const key of [name, name.toUpperCase(), name.replaceAll('-', '_'), `${name}_more`]) {
      expect(redactText(JSON.stringify({ [key]: 'hunter2' }))).toBe(
        JSON.stringify({ [key]: '[redacted]' }),
      )
    }
  })

  test.each(
    [
      ['sig', 'signature', 'key', 'X-Amz-Signature', 'X-Amz-Credential', 'X-Amz-Security-Token'],
      ['X-Goog-Signature', 'X-Goog-Credential'],
    ].flat(),
  )('keeps nothing of the parameter %s of a URL', (name) => {
    const url = (value: string) => `https://a.test/o?${name}=${value}&x=1`
    expect(redactText(url('abc123'))).toBe(url('[redacted]'))
  })

  test.each([
    ['DB_PASSWORD=hunter2 npm start', 'DB_PASSWORD=[redacted] npm start'],
    ['password: hunter2\nuser: joe', 'password: [redacted]\nuser: joe'],
    ['session_token = "two words"', 'session_token = "[redacted]"'],
    ['token := `abcdef`', 'token := `[redacted]`'],
    [
      'AccountName=a;AccountKey=abc+/12==;EndpointSuffix=core',
      'AccountName=a;AccountKey=[redacted];EndpointSuffix=core',
    ],
    ['connect({clientSecret: "hunter2"})', 'connect({clientSecret: "[redacted]"})'],
  ])('has no value of a setting: %p', (text, clean) => {
    expect(redactText(text)).toBe(clean)
  })

  test('without secrets is the same string', () => {
    for (const text of [
      'A disk-shaped risk: ask them?',
      'https://example.com/a?b=c&d=e',
      '{"max_tokens":5,"tokens":["a"]}',
      'key: value',
      '{"usage":{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":3}}}',
      'The secret: never give up. The token = what is paid for.',
      'const token = await next(session)',
      'login(password: string, token?: Token, session = getSession())',
      'if (token == null || password === other) auth::check(token => x)',
      'open session://local/one or otp://now',
      'tokenizer: bpe, secretary: Ann, hf_hub_download_all_of_it, basic information on tasks',
    ]) {
      expect(redactText(text)).toBe(text)
    }
  })

  test('of any kind is read in linear time', () => {
    const pieces = [
      '\\',
      '"',
      '\\"token\\":',
      '://',
      '?a',
      ';',
      'bearer ',
      '-----BEGIN ',
      'sk-',
      'api_',
      '"token":{',
      'token=token(',
      "token: 'x",
      'eyJaaaaaaaa-',
      'eyJaaaaaaaa.',
      'SG.aaaaaaaaaaaaaaaa.',
      'basic ',
      ' password: a',
      '=',
      '":',
    ]
    for (const piece of pieces) {
      const text = `"password": ${piece.repeat(200_000 / piece.length)}`
      const start = performance.now()
      findSecrets(text)
      expect(performance.now() - start).toBeLessThan(400)
    }
  })

  test('removes a planted secret, whatever is around it', () => {
    const noise = fc.string({ unit: fc.constantFrom(...'ab "\\{}[]:,\n?&=;/-'), maxLength: 40 })
    const planted = fc.constantFrom(
      (s: string) => `gwk_${s}`,
      (s: string) => `Bearer ${s}`,
      (s: string) => `?sig=${s}`,
      (s: string) => JSON.stringify({ api_key: s }),
      (s: string) => JSON.stringify(JSON.stringify({ Client_Secret: s })),
      (s: string) => JSON.stringify({ credentials: { a: [s] } }),
    )
    fc.assert(
      fc.property(noise, planted, noise, (before, plant, after) => {
        expect(redactText(`${before} ${plant('CANARYsecret42')}${after}`)).not.toContain('CANARY')
      }),
      { numRuns: 2_000 },
    )
  })

  test('has cuts in order that never overlap', () => {
    const text = `{"token":"Bearer ${KEY}","url":"https://a:b@c/?sig=Bearer abcdefghij"}`
    let last = 0
    for (const { start, end } of findSecrets(text)) {
      expect(start).toBeGreaterThanOrEqual(last)
      last = end
    }
    expect(last).toBeGreaterThan(0)
  })
})
