import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { googleRequest } from './google-content-request.ts'
import { refusal } from './refusal.fixture.ts'

const user = { role: 'user', content: 'hi' }
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]

const request = (fields: JsonObject) =>
  googleRequest(
    {
      surface: 'chat_completions',
      body: structuredClone({ model: 'asked', ...fields }),
      stream: false,
    },
    'gemini-3',
  )
const messages = (...list: JsonValue[]) => request({ messages: list })
const parts = (content: JsonValue) =>
  ((messages({ role: 'user', content }).contents as JsonObject[])[0] as JsonObject).parts

describe('messages', () => {
  test('system and developer texts are joined by a blank line, the empty ones left out', () => {
    expect(
      messages(
        { role: 'system', content: 'A' },
        user,
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'B' },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'system', content: '' },
        { role: 'system', content: null },
      ),
    ).toEqual({ contents, systemInstruction: { parts: [{ text: 'A\n\nB\n\nb' }] } })
  })

  test('a system text between two tool results leaves them in one content', () => {
    const tool_calls = ['a', 'b'].map((id) => ({ id, function: { name: id, arguments: '{}' } }))
    const { contents } = messages(
      user,
      { role: 'assistant', tool_calls },
      { role: 'tool', tool_call_id: 'a', content: '{"n":1}' },
      { role: 'system', content: 'Be brief.' },
      { role: 'tool', tool_call_id: 'b', content: '{"n":2}' },
    )
    expect((contents as JsonObject[])[2]).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name: 'a', response: { n: 1 } } },
        { functionResponse: { id: 'b', name: 'b', response: { n: 2 } } },
      ],
    })
  })

  test.each<JsonObject>([
    { content: null, refusal: 'I may not.' },
    { content: [{ type: 'refusal', refusal: 'I may not.' }] },
  ])('what an assistant refused before is what it said: %j', (said) => {
    const model = { role: 'model', parts: [{ text: 'I may not.' }] }
    expect(messages(user, { role: 'assistant', ...said })).toEqual({
      contents: [...contents, model],
    })
  })

  test('an empty text beside other parts is left out, which the upstream refuses', () => {
    const empty = { type: 'text', text: '' }
    const call = { id: 'a', function: { name: 'now', arguments: '' } }
    expect(
      messages(
        { role: 'user', content: [empty, { type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [empty], tool_calls: [call] },
      ).contents,
    ).toEqual([
      ...contents,
      { role: 'model', parts: [{ functionCall: { id: 'a', name: 'now', args: {} } }] },
    ])
  })

  test('a conversation with tools', () => {
    const call = (id: string, name: string, args: JsonValue | undefined, more = {}) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
      ...more,
    })
    expect(
      messages(
        user,
        {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            call('a', 'weather', '{"city":"Oslo"}', { thought_signature: 'sig/==' }),
            call('b', 'clock', '', { thoughtSignature: 'sig2' }),
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: '{"temp":7}' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: '[1]' }] },
        { role: 'user', content: 'And?' },
        { role: 'assistant', content: null, tool_calls: [call('c', 'clock', undefined)] },
        { role: 'tool', tool_call_id: 'c', content: 'noon' },
        { role: 'assistant', content: '' },
      ).contents,
    ).toEqual([
      ...contents,
      {
        role: 'model',
        parts: [
          { text: 'Let me look.' },
          {
            functionCall: { id: 'a', name: 'weather', args: { city: 'Oslo' } },
            thoughtSignature: 'sig/==',
          },
          { functionCall: { id: 'b', name: 'clock', args: {} }, thoughtSignature: 'sig2' },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'weather', response: { temp: 7 } } },
          { functionResponse: { id: 'b', name: 'clock', response: { output: '[1]' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'And?' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c', name: 'clock', args: {} } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'c', name: 'clock', response: { output: 'noon' } } }],
      },
      { role: 'model', parts: [{ text: '' }] },
    ])
  })

  describe('calls without a signature, of which Gemini 3 wants one for the first of a turn', () => {
    const call = (id: string, more = {}) => ({
      id,
      type: 'function',
      function: { name: 'f' },
      ...more,
    })
    const body = {
      model: 'asked',
      messages: [
        user,
        { role: 'assistant', content: 'ok', tool_calls: [call('a'), call('b')] },
        { role: 'tool', tool_call_id: 'a', content: '1' },
        { role: 'tool', tool_call_id: 'b', content: '2' },
        { role: 'assistant', tool_calls: [call('c', { thought_signature: 'sig' }), call('d')] },
      ],
    }
    const signatures = (surface: string, model: string) =>
      (googleRequest({ body, stream: false, surface }, model).contents as JsonObject[])
        .flatMap((content) => content.parts as JsonObject[])
        .filter((part) => part.functionCall !== undefined)
        .map((part) => part.thoughtSignature)

    test('have the one that skips its check where the messages API has no place for it', () => {
      const skip = 'skip_thought_signature_validator'
      for (const model of ['gemini-3-pro-preview', 'gemini-3.5-flash']) {
        expect(signatures('messages', model)).toEqual([skip, undefined, 'sig', undefined])
      }
    })

    test.each([
      ['messages', 'gemini-2.5-flash'],
      ['chat_completions', 'gemini-3-pro-preview'],
    ] as const)('stay without for %p, %s', (surface, model) => {
      expect(signatures(surface, model)).toEqual([undefined, undefined, 'sig', undefined])
    })
  })

  test('a tool result that nests too deep to be read is a text', () => {
    const deep = `{"a":${'['.repeat(300)}${']'.repeat(300)}}`
    const calls = [{ id: 'a', type: 'function', function: { name: 'f' } }]
    const { contents } = messages(
      { role: 'assistant', tool_calls: calls },
      { role: 'tool', tool_call_id: 'a', content: deep },
    )
    const response = { output: deep }
    expect(contents).toMatchObject([
      {},
      { parts: [{ functionResponse: { id: 'a', name: 'f', response } }] },
    ])
  })

  test.each([
    ['no list', () => request({ messages: 'hi' }), 'messages must be a list'],
    ['system only', () => messages({ role: 'system', content: 'x' }), 'messages must hold'],
    ['a role', () => messages({ role: 'function', content: 'x' }), 'messages.0.role: "function"'],
    ['no object', () => messages(user, 'x'), 'messages.1 must be an object'],
    ['content', () => messages({ role: 'user', content: 7 }), 'messages.0.content must be'],
    ['a part', () => parts([{ type: 'text', text: 'a' }, 'b']), 'messages.0.content.1 must be'],
    ['a text', () => parts([{ type: 'text' }]), 'messages.0.content.0.text must be a string'],
    ['a part type', () => parts([{ type: 'input_audio' }]), 'messages.0.content.0.type: "input_a'],
    [
      'an image in a system message',
      () => messages({ role: 'system', content: [{ type: 'image_url', image_url: 'x' }] }, user),
      'messages.0.content.0: only text',
    ],
    [
      'a tool result without a call',
      () => messages(user, { role: 'tool', tool_call_id: 'x', content: '' }),
      'messages.1.tool_call_id: no earlier',
    ],
    [
      'a tool result without an id',
      () => messages(user, { role: 'tool', content: '' }),
      'messages.1.tool_call_id must be',
    ],
    [
      'arguments that are no JSON',
      () =>
        messages(user, {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{' } }],
        }),
      'messages.1.tool_calls.0.function.arguments must be a JSON object',
    ],
    [
      'arguments that are no object',
      () =>
        messages(user, {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '[1]' } }],
        }),
      'messages.1.tool_calls.0.function.arguments must be a JSON object',
    ],
    [
      'a call without a name',
      () => messages(user, { role: 'assistant', tool_calls: [{ type: 'function', id: 'a' }] }),
      'messages.1.tool_calls.0.function.name',
    ],
    [
      'a call of another type',
      () => messages(user, { role: 'assistant', tool_calls: [{ type: 'custom', id: 'a' }] }),
      'messages.1.tool_calls.0.type',
    ],
  ])('refused: %s', (_, run, message) => {
    expect(refusal(run)).toStartWith(message)
  })
})

describe('media', () => {
  const inline = (mimeType: string) => [{ inlineData: { mimeType, data: 'QUJD' } }]
  const remote = (fileUri: string, mimeType: string) => [{ fileData: { fileUri, mimeType } }]
  test.each([
    [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }, inline('image/png')],
    [{ type: 'image_url', image_url: 'data:IMAGE/GIF;base64,QUJD' }, inline('image/gif')],
    [{ type: 'input_image', image_url: 'data:image/webp;base64,QUJD' }, inline('image/webp')],
    [
      { type: 'image_url', image_url: { url: 'data:;base64,QUJD' }, mime_type: 'image/jpeg' },
      inline('image/jpeg'),
    ],
    [{ type: 'image_url', image_url: 'data:image/jpg;base64,QUJD' }, inline('image/jpeg')],
    [
      { type: 'image_url', image_url: 'gs://bucket/a', mime_type: 'image/jpg' },
      remote('gs://bucket/a', 'image/jpeg'),
    ],
    [
      { type: 'file', file: { file_data: 'data:application/pdf;name=a;base64,QUJD' } },
      inline('application/pdf'),
    ],
    [
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' },
      },
      inline('application/pdf'),
    ],
    [
      { type: 'image_url', image_url: { url: 'https://h/a/b.JPG?x=1' } },
      remote('https://h/a/b.JPG?x=1', 'image/jpeg'),
    ],
    [
      { type: 'video_url', video_url: { url: 'gs://bucket/clip.mp4' } },
      remote('gs://bucket/clip.mp4', 'video/mp4'),
    ],
    [
      { type: 'input_video', video_url: 'gs://bucket/clip', mediaType: 'video/webm' },
      remote('gs://bucket/clip', 'video/webm'),
    ],
    [
      {
        type: 'file',
        file: { file_url: 'https://h/x', media_type: 'text/csv' },
        mime_type: 'text/csv',
      },
      remote('https://h/x', 'text/csv'),
    ],
    [
      { type: 'document', source: { type: 'url', url: 'https://h/x.pdf' } },
      remote('https://h/x.pdf', 'application/pdf'),
    ],
  ] as [JsonObject, JsonValue][])('%j', (part, expected) => {
    expect(parts([part])).toEqual(expected)
  })

  const image = (url: JsonValue, more: JsonObject = {}) => ({
    type: 'image_url',
    image_url: { url },
    ...more,
  })
  test.each([
    [image(7), 'must hold a data:, gs:// or https:// URL'],
    [{ type: 'file', file: { file_id: 'file-1' } }, 'must hold a data:, gs:// or https:// URL'],
    [image('http://h/a.png'), 'its URL must begin with'],
    [image('file:///etc/passwd'), 'its URL must begin with'],
    [image('https://'), 'its URL must begin with'],
    [image('https://h/a'), 'state its mime_type'],
    [image('https://h/a.exe'), 'state its mime_type'],
    [image('https://h/a', { mime_type: 'png' }), 'its media type must be like image/png'],
    [image('https://h/a', { mime_type: 'a/b', media_type: 'a/c' }), 'contradict each other'],
    [image('data:image/png;base64,QQ', { mime_type: 'image/gif' }), 'contradict each other'],
    [image('data:image/png,QQ'), 'must be in base64'],
    [image('data:image/png'), 'must be in base64'],
    [image('data:;base64,QQ'), 'has no media type'],
    [{ type: 'document', source: { type: 'base64', data: 'QQ' } }, 'must have a media type'],
  ] as [JsonObject, string][])('refused: %j', (part, message) => {
    const text = refusal(() => parts([part]))
    expect(text).toStartWith('messages.0.content.0')
    expect(text).toContain(message)
  })
})
