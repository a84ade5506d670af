import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { prune } from './prune.ts'
import { compilePaths } from './redaction-paths.ts'
import { nameKind } from './sensitive-names.ts'

const clean = (value: JsonObject, paths: readonly string[] = []) =>
  prune(value, compilePaths(paths), 1e9).value

describe('redaction', () => {
  test('redacts the values of sensitive keys, in any spelling and at any depth', () => {
    for (const key of [
      'token',
      'access_token',
      'refresh-token',
      'API_KEY',
      'apiKey',
      'x_api_key',
      'Client-Secret',
      'credentials',
      'private_key',
      'SECRET',
      'Password',
      'Authorization',
      'set-cookie',
    ]) {
      expect(clean({ a: [{ [key]: 'x', b: 1 }] })).toEqual({ a: [{ [key]: '[redacted]', b: 1 }] })
      expect(clean({ [key]: { user: 'x' } })).toEqual({ [key]: '[redacted]' })
    }
  })

  test('keeps similar keys that are not sensitive', () => {
    const value = { max_tokens: 5, tokens: ['a'], secretary: 'b', completion_tokens: 3, key: 'c' }
    expect(clean(value)).toBe(value)
  })

  test('does not modify the payload, and returns the same value if nothing is removed', () => {
    const value = { messages: [{ content: 'hi', token: 'x' }], other: { deep: [1] } }
    const before = structuredClone(value)
    const result = clean(value) as typeof value
    expect(value).toEqual(before)
    expect(result.other).toBe(value.other)
  })

  test('follows configured paths from the root, with wildcards for keys and indexes', () => {
    const value = {
      body: {
        messages: [{ content: [{ image_url: { url: 'u', detail: 'd' } }] }, { content: 'x' }],
      },
    }
    expect(clean(value, ['body.messages.*.content.*.image_url.url'])).toEqual({
      body: {
        messages: [
          { content: [{ image_url: { url: '[redacted]', detail: 'd' } }] },
          { content: 'x' },
        ],
      },
    })
    expect(clean(value, ['body.Messages.1.content'])).toEqual({
      body: { messages: [value.body.messages[0], { content: '[redacted]' }] },
    } as JsonObject)
    expect(clean(value, ['messages.*.content', 'body.content'])).toBe(value)
    expect(clean(value, ['body'])).toEqual({ body: '[redacted]' })
    expect(clean({ a: { x: 1 }, b: { x: 1 } }, ['*.x', 'a.y'])).toEqual({
      a: { x: '[redacted]' },
      b: { x: '[redacted]' },
    })
  })

  test('handles names of object members', () => {
    const value = JSON.parse('{"__proto__":{"token":"CANARY"},"constructor":{"secret":"CANARY"}}')
    expect(JSON.stringify(clean(value))).toBe(
      '{"__proto__":{"token":"[redacted]"},"constructor":{"secret":"[redacted]"}}',
    )
  })

  test('bounds the depth', () => {
    const deep = JSON.parse(`${'{"a":['.repeat(5_000)}1${']}'.repeat(5_000)}`)
    const { value, tooDeep } = prune(deep, undefined, 1e9)
    expect(tooDeep).toBe(true)
    expect(JSON.stringify(value)).toContain('{"truncated":true}')
  })

  const CANARY = 'CANARYsecret42'
  const sensitive = fc
    .constantFrom('token', 'access_token', 'api_key', 'x_api_key', 'client_secret', 'password')
    .chain((key) =>
      fc
        .array(fc.boolean(), { minLength: key.length, maxLength: key.length })
        .map((upper) => [...key].map((c, i) => (upper[i] ? c.toUpperCase() : c)).join('')),
    )
    .chain((key) => fc.constantFrom(key, key.replaceAll('_', '-')))
  const leaf: fc.Arbitrary<JsonValue> = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  )
  const secret: fc.Arbitrary<JsonValue> = fc.oneof(
    fc.tuple(sensitive, leaf).map(([key, other]) => ({ [key]: [CANARY, other] })),
    sensitive.map((key) => ({ [key]: CANARY })),
    sensitive.map((key) => ({ arguments: JSON.stringify({ a: [{ [key]: CANARY }] }) })),
    sensitive.map((key) => JSON.stringify({ x: JSON.stringify({ [key]: CANARY }) })),
    fc.constantFrom(
      `gwk_${CANARY}`,
      `see Bearer ${CANARY} there`,
      `https://x.test/a?b=c&X-Amz-Signature=${CANARY}&d=e`,
      `https://u:${CANARY}@x.test`,
    ),
    fc.constant({ [`gwk_${CANARY}`]: 1 }),
  )
  const { tree } = fc.letrec<{ tree: JsonValue; node: JsonValue }>((tie) => ({
    tree: fc.oneof({ maxDepth: 5 }, leaf, secret, tie('node')),
    node: fc.oneof(
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.string({ maxLength: 8 }), tie('tree'), { maxKeys: 4 }),
    ),
  }))

  test('leaves no planted secret in any position', () => {
    let planted = 0
    fc.assert(
      fc.property(tree, (value) => {
        if (JSON.stringify(value).includes(CANARY)) planted++
        expect(JSON.stringify(clean({ body: value }))).not.toContain(CANARY)
      }),
      { numRuns: 3_000 },
    )
    expect(planted).toBeGreaterThan(500)
  })

  /** The value with its texts and numbers blanked. */
  function shapeOf(value: JsonValue | undefined): JsonValue {
    if (Array.isArray(value)) return value.map(shapeOf)
    if (typeof value !== 'object' || value === null) return null
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shapeOf(part)]))
  }

  test('keeps the shape of JSON', () => {
    const texts = fc.oneof(leaf, fc.constant('Bearer abcdefgh1234'))
    // What is below such a name is a text afterwards.
    const name = fc.string({ maxLength: 8 }).filter((key) => nameKind(key) === 'plain')
    const { json } = fc.letrec<{ json: JsonValue }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        texts,
        fc.array(tie('json'), { maxLength: 4 }),
        fc.dictionary(name, tie('json'), { maxKeys: 4 }),
        sensitive.map((key) => ({ [key]: 'x', other: 1 })),
      ),
    }))
    fc.assert(
      fc.property(json, (value) => {
        expect(shapeOf(clean({ body: value }))).toEqual(shapeOf({ body: value }))
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('bulky fields', () => {
  const base64 = 'QUJD'.repeat(100)
  const gone = (size: number) => ({ truncated: true, size_bytes: size })

  test.each([
    ['image_url.url', { image_url: { url: `data:image/png;base64,${base64}` } }, 422],
    ['a data URL that is a text', { text: `data:image/png;base64,${base64}` }, 422],
    ['a short data URL', { image_url: { url: 'data:image/png,AA' } }, 17],
    ['input_image', { type: 'input_image', image_url: `data:image/png;base64,${base64}` }, 422],
    ['input_audio.data', { input_audio: { data: base64, format: 'wav' } }, 400],
    ['file.file_data', { file: { file_data: base64 } }, 400],
    ['inlineData.data', { inlineData: { mimeType: 'image/png', data: base64 } }, 400],
    ['source.data', { source: { type: 'base64', data: base64 } }, 400],
    ['b64_json', { b64_json: base64 }, 400],
    ['an embedding', { embedding: base64 }, 400],
    ['the result of image generation', { type: 'image_generation_call', result: base64 }, 400],
  ])('%s becomes its size', (_, value, size) => {
    const text = JSON.stringify(clean({ body: value }))
    expect(text).toContain(JSON.stringify(gone(size)))
    expect(text).not.toContain('QUJDQUJD')
  })

  test('keeps short text, text that is not base64, and other members', () => {
    const value = {
      a: { data: base64.slice(0, 256) },
      b: { data: 'plain words '.repeat(50) },
      c: { url: `https://example.com/${'a'.repeat(300)}` },
      d: { content: 'x'.repeat(1_000) },
      e: { embedding: [0.25, -0.5] },
    }
    expect(clean(value)).toBe(value)
  })
})

describe('the byte limit', () => {
  test('ends the pass soon after it, with the start of the value', () => {
    const many = Array.from({ length: 1_000 }, (_, n) => `text ${n}`)
    const { value, over } = prune({ body: many, after: 1 }, undefined, 100)
    expect(over).toBe(true)
    const kept = (value as { body: string[] }).body
    expect(kept.length).toBeLessThan(20)
    expect(kept).toEqual(many.slice(0, kept.length))
    expect(value).not.toHaveProperty('after')
  })

  test('counts all digits of a number: vectors are long', () => {
    const vector = Array.from({ length: 1_000 }, (_, n) => Math.sin(n))
    const { value, over } = prune({ body: vector }, undefined, 1_000)
    expect(over).toBe(true)
    expect(JSON.stringify(value).length).toBeLessThan(1_200)
  })

  test('keeps values that fit', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const wrapped = { body: JSON.parse(text) as JsonValue }
        // What is redacted has another length.
        JSON.stringify(wrapped, (name, value) => {
          fc.pre(nameKind(name) === 'plain')
          return value
        })
        const bytes = Buffer.byteLength(JSON.stringify(wrapped))
        expect(prune(wrapped, undefined, bytes).over).toBe(false)
      }),
    )
  })

  test('a secret across the cut is removed as a whole', () => {
    for (let before = 0; before < 100; before++) {
      const text = `${'a '.repeat(before / 2)}gwk_CANARYsecret42CANARYsecret42CANARYsecret42 ${'b'.repeat(5_000)}`
      const { value, over } = prune({ body: text }, undefined, 70)
      expect(over).toBe(true)
      expect(JSON.stringify(value)).not.toContain('CANARY')
    }
  })
})
