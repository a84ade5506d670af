import { expect, test } from 'bun:test'
import { generateKey, hashSecret, parseKey } from './keys.ts'

test('a generated key has the documented form and parses into its parts', () => {
  const key = generateKey()
  expect(key.raw).toMatch(/^gwk_[a-z2-7]{16}\.[A-Za-z0-9_-]{43}$/)
  expect(parseKey(key.raw)).toEqual({ publicId: key.publicId, secret: key.secret })
  expect(generateKey().raw).not.toBe(key.raw)
})

const id = 'abcdefghijklmnop'
const secret = 'A'.repeat(43)

test('a generated public id is made of all 32 letters', () => {
  const letters = new Set(Array.from({ length: 100 }, () => generateKey().publicId).join(''))
  expect(letters.size).toBe(32)
})

test.each([
  ['longer parts', `gwk_${id}qrs.${secret}_-9`, true],
  ['a short public id', `gwk_${id.slice(1)}.${secret}`, false],
  ['a short secret', `gwk_${id}.${secret.slice(1)}`, false],
  ['characters outside the alphabet', `gwk_${id.replace('a', '1')}.${secret}`, false],
  ['upper case in the public id', `gwk_${id.toUpperCase()}.${secret}`, false],
  ['another prefix', `sk-${id}.${secret}`, false],
  ['a line break after it', `gwk_${id}.${secret}\n`, false],
  ['something before it', `xgwk_${id}.${secret}`, false],
  ['512 characters', `gwk_${id}.`.padEnd(512, 'A'), true],
  ['more than 512 characters', `gwk_${id}.`.padEnd(513, 'A'), false],
  ['nothing', '', false],
])('%s', (_, raw, accepted) => {
  expect(parseKey(raw) !== undefined).toBe(accepted)
})

test('the hash is SHA-256', () => {
  expect(hashSecret('abc').toString('hex')).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  )
})
