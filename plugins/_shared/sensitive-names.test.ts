import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { keyForms } from 'model-gateway/wire'
import { prune } from './prune.ts'
import {
  countingWords,
  isSensitiveHeader,
  isSensitiveParameter,
  sensitiveEndings,
  sensitiveWords,
} from './sensitive-names.ts'

const clean = (value: object) => prune({ ...value }, undefined, 1e9).value

/** A name of several words, joined in each of the usual ways. */
function joined(name: string): string[] {
  const words = name.split(' ')
  const capital = (word: string) => word[0]?.toUpperCase() + word.slice(1)
  const camel = words.map((word, n) => (n === 0 ? word : capital(word))).join('')
  const separated = ['_', '-', '.', ' ', ''].map((separator) => words.join(separator))
  return [...separated, camel, capital(camel), words.join('_').toUpperCase()]
}

describe('the value of a name is a secret', () => {
  test('in each spelling of each of them, with other words around it', () => {
    for (const name of [...sensitiveEndings, ...sensitiveWords].flatMap(joined)) {
      for (const whole of [name, `my_${name}`, `${name}_2`, `${name}.value`]) {
        expect(clean({ a: [{ [whole]: 'x' }] })).toEqual({ a: [{ [whole]: '[redacted]' }] })
        expect([whole, isSensitiveHeader(whole), isSensitiveParameter(whole)]).toEqual([
          whole,
          true,
          true,
        ])
      }
    }
  })

  test.each([
    'authorization_token',
    'X-Amz-Security-Token',
    'accesstoken',
    'APIkey',
    'PGPASSWORD',
    'thoughtSignature',
    'session_id',
    'AWS_SECRET_ACCESS_KEY',
    'x-auth-request-user',
    'connectionString',
    'ｐａｓｓｗｏｒｄ',
    'toKen',
  ])('such as that of %s', (name) => {
    expect(clean({ [name]: 'x' })).toEqual({ [name]: '[redacted]' })
  })

  test('whether it is a text, a number, a list or an object', () => {
    for (const value of ['x', 1234, ['x'], { value: 'x' }]) {
      expect(clean({ password: value, refresh_tokens: value })).toEqual({
        password: '[redacted]',
        refresh_tokens: '[redacted]',
      })
    }
  })
})

test('keeps usage, and names similar to secrets', () => {
  const kept = {
    max_tokens: 5,
    maxCompletionTokens: 5,
    prompt_tokens_details: { cached_tokens: 3, audio_tokens: 0 },
    tokens: ['a', 'b'],
    token_count: '12',
    token_type: 'text',
    password_length: 8,
    stop_token_ids: [1],
    has_secret: false,
    credentials: null,
    tokenizer: 'bpe',
    secretary: 'Ann',
    author: 'Ann',
    obsession: 'tea',
    key: 'c',
    monkey: 'd',
  }
  expect(clean(kept)).toEqual(kept)
  expect(clean({ tokens: 'abc' })).toEqual({ tokens: '[redacted]' })
})

test('docs/operations.md lists every name and every form of a key', () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const start = page.indexOf('### What is redacted')
  const section = page.slice(start, page.indexOf('\n### ', start + 1))
  const forms = keyForms.map(({ begins }) => begins)
  for (const word of [...sensitiveEndings, ...sensitiveWords, ...countingWords, ...forms]) {
    expect(section).toContain(`\`${word}\``)
  }
})
