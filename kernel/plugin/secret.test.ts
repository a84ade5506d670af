import { expect, test } from 'bun:test'
import { inspect } from 'node:util'
import { Secret } from './secret.ts'

const secret = new Secret('open-sesame')

test.each([
  ['a text', `${secret}`],
  ['JSON', JSON.stringify({ secret })],
  ['a dump', inspect({ secret })],
  ['a dump of the runtime', Bun.inspect({ secret })],
])('%s of a secret shows nothing of it', (_, shown) => {
  expect(shown).toContain('[secret]')
  expect(shown).not.toContain('sesame')
})
