import { describe, expect, test } from 'bun:test'
import { streamEvent } from '../plugin/stream.ts'
import { createEventTemplate } from './event-template.ts'

const chunk = (content: string, model = 'up') =>
  `{"model":"${model}","choices":[{"delta":{"content":${content}}}]}`

/** A template that knows one chunk, and that only its model is replaced. */
function learned() {
  const template = createEventTemplate()
  template.learn(streamEvent(chunk('"a"')), streamEvent(chunk('"a"', 'mine')))
  return template
}

describe('an event template', () => {
  test('leaves long events to the parser, which is far faster for them', () => {
    const template = learned()
    const long = (length: number) => streamEvent(chunk(JSON.stringify('x'.repeat(length))))
    expect(template.apply(long(10_000))).toBeDefined()
    const startedAt = performance.now()
    expect(template.apply(long(1_000_000))).toBeUndefined()
    template.learn(long(1_000_000), long(1_000_000))
    expect(performance.now() - startedAt).toBeLessThan(100)
    expect(template.apply(streamEvent(chunk('"b"')))?.data).toBe(chunk('"b"', 'mine'))
  })

  test.each([
    ['""'],
    ['" and more"'],
    ['"\\"\\\\\\n\\u00e9"'],
    ['"\u2028\ud83c\udf88"'],
    ['7'],
    ['"\\",\\"model\\":\\"up"'],
  ])('rewrites events that differ only in their text: %s', (content) => {
    expect(learned().apply(streamEvent(chunk(content)))?.data).toBe(chunk(content, 'mine'))
  })

  test.each([
    ['a control character', chunk('"a\n"')],
    ['an escape that does not exist', chunk('"\\x"')],
    ['half an escape', chunk('"\\u12"')],
    ['a string without end', chunk('"a')],
    ['a quote inside', chunk('"a"b"')],
    ['no value', chunk('')],
    ['half a number', chunk('01')],
    ['a number of another kind', chunk('1.5')],
    ['another type of value', chunk('null')],
    ['an end too early', chunk('"a"').slice(0, -1)],
    ['something behind it', `${chunk('"a"')} `],
    ['another member', chunk('"a","role":"assistant"')],
    ['another model', chunk('"a"', 'other')],
  ])('leaves an event with %s to the reader', (_, data) => {
    expect(learned().apply(streamEvent(data))).toBeUndefined()
  })

  test('knows events by their name too', () => {
    expect(learned().apply(streamEvent(chunk('"b"'), 'named'))).toBeUndefined()
  })

  test('passes on events that need no change', () => {
    const template = createEventTemplate()
    const first = streamEvent(chunk('"a"'))
    template.learn(first, first)
    const second = streamEvent(chunk('"b"'))
    expect(template.apply(second)).toBe(second)
  })

  test('fills a copied reasoning text from its original', () => {
    const delta = (members: string) => `{"delta":{${members}},"sequence_number":1}`
    const template = createEventTemplate()
    template.learn(
      streamEvent(delta('"content":"","reasoning_content":"a"')),
      streamEvent(delta('"reasoning":"a","content":"","reasoning_content":"a"')),
    )
    const next = streamEvent(delta('"content":"x","reasoning_content":"b"'))
    expect(template.apply(next)?.data).toBe(
      delta('"reasoning":"b","content":"x","reasoning_content":"b"'),
    )
  })

  test('does not guess which of two reasoning texts was copied', () => {
    const both = '{"reasoning_text":"b","reasoning_content":"a"}'
    const template = createEventTemplate()
    template.learn(
      streamEvent(both),
      streamEvent('{"reasoning":"a","reasoning_text":"b","reasoning_content":"a"}'),
    )
    expect(template.apply(streamEvent(both))).toBeUndefined()
  })

  test('does not guess where a new text came from', () => {
    const template = createEventTemplate()
    const data = '{"content":"a","arguments":"a"}'
    template.learn(streamEvent(data), streamEvent('{"delta":"a","content":"a","arguments":"a"}'))
    expect(template.apply(streamEvent(data))).toBeUndefined()
  })
})
