import { expect, test } from 'bun:test'
import { withoutSecrets } from './secrets.ts'

const key = `gwk_${'a'.repeat(16)}.${'B'.repeat(43)}`

test("values with a secret's name, or that look like a key, are removed at any depth", () => {
  const entry = {
    name: 'Ada',
    password: 'p',
    'Client-Secret': { nested: 's' },
    auth: [{ token: 't', auth_mode: 'bearer', secret_ref: 'env.TOKEN' }],
    note: `it was ${key} before`,
    count: 3,
    nothing: null,
  }
  expect(withoutSecrets(entry)).toEqual({
    name: 'Ada',
    password: '[removed]',
    'Client-Secret': '[removed]',
    auth: [{ token: '[removed]', auth_mode: 'bearer', secret_ref: 'env.TOKEN' }],
    note: 'it was [removed] before',
    count: 3,
    nothing: null,
  })
})
