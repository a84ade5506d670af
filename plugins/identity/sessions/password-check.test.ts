import { expect, test } from 'bun:test'
import { createPasswordCheck } from './password-check.ts'

test('strangers who fill the queue get their turn refused, and known people do not wait for them', async () => {
  // A quick hash, because only the queue matters.
  const hash = await Bun.password.hash('right', {
    algorithm: 'argon2id',
    memoryCost: 8,
    timeCost: 1,
  })
  const passwords = createPasswordCheck()
  const strangers = Array.from({ length: 67 }, () => passwords.matches('wrong', hash, 'strangers'))
  const refused = strangers.pop()?.catch((error) => error)
  expect(await passwords.matches('right', hash, 'known')).toBe(true)
  expect(await refused).toMatchObject({
    code: 'too_many_attempts',
    headers: { 'retry-after': '5' },
  })
  expect(new Set(await Promise.all(strangers))).toEqual(new Set([false]))
})
