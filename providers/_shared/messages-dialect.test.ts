/** What holds on one of the two clouds only, and what came through the messages API. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { edgeMessages, invokeMessages, rawPredictMessages } from './messages-dialect.ts'
import { sentBody as body, messages, PNG, refusal, send, tool } from './messages-request.fixture.ts'

const strict = { invokeMessages, edgeMessages }

describe.each(Object.entries(strict))('on cloud_b_ml: %s', (_, dialect) => {
  test('a limit is required, from the caller or from extra_body', () => {
    expect(() => send(dialect, { max_tokens: null })).toThrow(refusal('max_tokens'))
    const extraBody = { max_tokens: 7 }
    expect(body(dialect, { max_tokens: null }, { extraBody }).max_tokens).toBe(7)
  })

  test('images in base64, however they are written', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'aWNvbg==' }
    const sent = body(dialect, {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: PNG } },
            { type: 'image_url', image_url: PNG },
            { type: 'input_image', image_url: PNG },
            { type: 'image', source },
            { type: 'input_text', text: 'What?' },
            { type: 'text', text: '' },
          ],
        },
      ],
    })
    const image = { type: 'image', source }
    expect(sent.messages).toEqual([
      { role: 'user', content: [image, image, image, image, { type: 'text', text: 'What?' }] },
    ])
  })

  test('files', () => {
    const file = (filename: string, file_data: string) => ({
      type: 'file',
      file: { filename, file_data },
    })
    const sent = body(dialect, {
      messages: [
        {
          role: 'user',
          content: [
            file('a.pdf', 'data:application/pdf;base64,cGRm'),
            file('b.txt', 'data:text/plain;charset=utf-8;base64,Z3LDtsOfZQ=='),
          ],
        },
      ],
    })
    expect((sent.messages as { content: JsonValue }[])[0]?.content).toEqual([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' },
        title: 'a.pdf',
      },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'größe' },
        title: 'b.txt',
      },
    ])
  })

  test.each<JsonObject>([
    { type: 'image_url', image_url: 'data:image/jpg;base64,QUJD' },
    { type: 'image', source: { type: 'base64', media_type: 'image/jpg', data: 'QUJD' } },
  ])('image/jpg, which many write, is image/jpeg: %j', (part) => {
    const sent = body(dialect, { messages: [{ role: 'user', content: [part] }] })
    const source = { type: 'base64', media_type: 'image/jpeg', data: 'QUJD' }
    expect(sent.messages).toEqual([{ role: 'user', content: [{ type: 'image', source }] }])
  })

  test.each<[string, JsonObject]>([
    ['svg', { type: 'image_url', image_url: 'data:image/svg+xml;base64,eA==' }],
    ['base64', { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }],
    ['file_data', { type: 'file', file: { file_id: 'file-1' } }],
    ['application/pdf', { type: 'file', file: { file_data: 'data:application/zip;base64,eA==' } }],
    ['tool_use_id', { type: 'tool_result', content: 'x' }],
  ])('media that cannot go: %s', (message, part) => {
    const content = { messages: [{ role: 'user', content: [part] }] }
    expect(() => send(dialect, content)).toThrow(refusal(message))
  })

  test('ids that the wire refuses are replaced on both sides', () => {
    const long = 'call:'.repeat(20)
    const sent = body(dialect, {
      messages: [
        ...messages,
        {
          role: 'assistant',
          tool_calls: [
            { id: long, type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'toolu_01-ok', type: 'function', function: { name: 'f' } },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_01-ok', content: 'x' },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: long, content: 'y', is_error: true }],
        },
      ],
    })
    const id = `tool_${new Bun.CryptoHasher('sha256').update(long).digest('base64url')}`
    expect(sent.messages).toMatchObject([
      {},
      { content: [{ id }, { id: 'toolu_01-ok' }] },
      { content: [{ tool_use_id: 'toolu_01-ok' }, { tool_use_id: id, is_error: true }] },
    ])
  })

  test('tools other than functions are refused', () => {
    expect(() => send(dialect, { tools: [{ type: 'web_search' }] })).toThrow(
      refusal('tools.0.type'),
    )
    const none = body(dialect, { tools: [tool], tool_choice: 'none' })
    expect(none).not.toHaveProperty('tools')
    expect(none).not.toHaveProperty('tool_choice')
  })
})

describe('on cloud_a_ml', () => {
  test('images are refused', () => {
    const content = [{ type: 'image_url', image_url: { url: PNG } }]
    expect(() => send(rawPredictMessages, { messages: [{ role: 'user', content }] })).toThrow(
      refusal('messages.0.content.0'),
    )
  })

  test('other tools are passed on, with the choice none', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' }
    expect(body(rawPredictMessages, { tools: [tool, search], tool_choice: 'none' })).toMatchObject({
      tools: [{ name: 'weather' }, search],
      tool_choice: { type: 'none' },
    })
  })

  test('a tool that is marked for the cache stays so, and of a system message its last mark', () => {
    const [five, hour] = [{ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }]
    const content = ['a', 'b', 'c'].map((text, n) => ({
      type: 'text',
      text,
      ...(n < 2 && { cache_control: [five, hour][n] as JsonObject }),
    }))
    const sent = body(edgeMessages, {
      messages: [{ role: 'system', content }, ...messages],
      tools: [{ ...tool, cache_control: five }],
    })
    expect(sent.system).toMatchObject([{ cache_control: hour }])
    expect(sent.tools).toMatchObject([{ cache_control: five }])
  })
})
