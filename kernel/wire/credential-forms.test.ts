import { expect, test } from 'bun:test'
import { credentialForms, maskForms } from './credential-forms.ts'

const TOKEN = 'odd/"token"'
const forms = credentialForms([`Bearer ${TOKEN}`, '', 'Key abc', '20261122T000000Z'])

test.each([
  ['key odd/"token" is unknown', 'key [redacted] is unknown'],
  [
    `sent ${JSON.stringify({ authorization: `Bearer ${TOKEN}` })}`,
    '{"authorization":"[redacted]"}',
  ],
  [JSON.stringify({ token: TOKEN }).replace('/', '\\/'), '{"token":"[redacted]"}'],
  [JSON.stringify({ sent: JSON.stringify({ token: TOKEN }) }), '{\\"token\\":\\"[redacted]\\"}'],
  ['at 20261122T000000Z', 'at [redacted]'],
  ['{"token":"odd\\u002F\\u0022\\u0074oken\\u0022"}', '{"token":"[redacted]"}'],
  ['{\\"token\\":\\"odd\\\\u002f\\\\\\"token\\\\\\"\\"}', '{\\"token\\":\\"[redacted]\\"}'],
  [`/login?token=${encodeURIComponent(TOKEN)}&next=a`, '/login?token=[redacted]&next=a'],
  ['?token=%6fdd%2f%22%74oken%22', '?token=[redacted]'],
  ['?token=odd%252F%2522token%2522', '?token=[redacted]'],
  ['<b>odd/&quot;token&#34;</b>', '<b>[redacted]</b>'],
  [`in base64 ${btoa(TOKEN)}`, 'in base64 [redacted]'],
  [`in hex ${Buffer.from(TOKEN).toString('hex')}.`, 'in hex [redacted].'],
  ['abc is too short to be a secret', 'abc is too short to be a secret'],
  ['100% of a \\ and &amp; stay', '100% of a \\ and &amp; stay'],
])('%s', (text, safe) => {
  expect(maskForms(text, forms)).toContain(safe)
})

test('the password of basic credentials is a separate form', () => {
  const basic = credentialForms([`Basic ${btoa('ada:open-sesame')}`])
  expect(maskForms(`${btoa('ada:open-sesame')} is ada, open-sesame`, basic)).toBe(
    '[redacted] is ada, [redacted]',
  )
})

test('a password is everything after the first colon, in any case of the scheme', () => {
  const basic = credentialForms([`basic ${btoa('ada:open:sesame')}`])
  expect(maskForms('open:sesame', basic)).toBe('[redacted]')
})

test('the parts of a signed header are separate forms', () => {
  const signed = credentialForms([
    'AWS4-HMAC-SHA256 Credential=AKIAODD4711/2026/eu, Signature=abcdef0123',
  ])
  expect(maskForms('no AKIAODD4711 here, abcdef0123', signed)).toBe(
    'no [redacted] here, [redacted]',
  )
})

test('masks two values completely if one is a prefix of the other', () => {
  for (const values of [
    ['token', 'token-of-ada'],
    ['token-of-ada', 'token'],
  ]) {
    expect(maskForms('token-of-ada, token', credentialForms(values))).toBe('[redacted], [redacted]')
  }
})

test('four characters are enough for a secret', () => {
  expect(credentialForms(['abcd'])).toEqual(['abcd'])
})

test('masks a value of several words as a whole', () => {
  expect(maskForms('say my long secret', credentialForms(['my long secret']))).toBe(
    'say [redacted]',
  )
})

test('base64 of a longer text shows a credential wherever in it that begins', () => {
  for (const before of ['', 'a', 'ab', 'abc']) {
    const text = btoa(`${before}Bearer ${TOKEN}, sent`)
    const masked = maskForms(text, forms)
    expect(masked).toContain('[redacted]')
    expect(atob(text.slice(0, masked.indexOf('['))) + masked).not.toContain('odd')
  }
})

test('a long run of escapes takes linear time', () => {
  const text = '\\'.repeat(60_000) + '%25'.repeat(20_000) + '&amp;'.repeat(10_000)
  const start = performance.now()
  maskForms(text, forms)
  expect(performance.now() - start).toBeLessThan(1000)
})

test('plain values have few forms, and an empty value has none', () => {
  expect(credentialForms(['Bearer odd-token'])).toEqual(['Bearer odd-token', 'odd-token'])
  expect(credentialForms(['', ' ', 'abc'])).toEqual([])
})
