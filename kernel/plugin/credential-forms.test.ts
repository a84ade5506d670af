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
  ['abc is too short to be a secret', 'abc is too short to be a secret'],
])('%s', (text, safe) => {
  expect(maskForms(text, forms)).toContain(safe)
})

test('the password of basic credentials is a form of its own', () => {
  const basic = credentialForms([`Basic ${btoa('ada:open-sesame')}`])
  expect(maskForms(`${btoa('ada:open-sesame')} is ada, open-sesame`, basic)).toBe(
    '[redacted] is ada, [redacted]',
  )
})

test('a password is all that stands behind the first colon, however the scheme is written', () => {
  const basic = credentialForms([`basic ${btoa('ada:open:sesame')}`])
  expect(maskForms('open:sesame', basic)).toBe('[redacted]')
})

test('of two values of which one begins like the other, neither is left half masked', () => {
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

test('a value of several words is masked as a whole', () => {
  expect(maskForms('say my long secret', credentialForms(['my long secret']))).toBe(
    'say [redacted]',
  )
})

test('plain values have few forms, and nothing has none', () => {
  expect(credentialForms(['Bearer odd-token'])).toEqual(['Bearer odd-token', 'odd-token'])
  expect(credentialForms(['', ' ', 'abc'])).toEqual([])
})
