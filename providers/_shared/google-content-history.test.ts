/** Calls and results of earlier turns: what the service wants to see of them, and where. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { googleRequest } from './google-content-request.ts'
import { createToolNames, GOOGLE_NAMES } from './tool-names.ts'

const names = createToolNames(GOOGLE_NAMES)

const user = { role: 'user', content: 'hi' }
const hi = { role: 'user', parts: [{ text: 'hi' }] }
const SKIP = 'skip_thought_signature_validator'

interface Content extends JsonObject {
  role: string
  parts: JsonObject[]
}

function contentsOf(messages: JsonValue[], upstreamModel = 'gemini-3.5-flash'): Content[] {
  const body = structuredClone({ model: 'asked', messages })
  const call = { body, stream: false, dropped() {} }
  return googleRequest(call, { upstreamModel }, names).contents as Content[]
}

const call = (id: string, more: JsonObject = {}) => ({
  id,
  type: 'function',
  function: { name: `f_${id}`, arguments: '{}' },
  ...more,
})
const calls = (...tool_calls: JsonObject[]) => ({ role: 'assistant', content: null, tool_calls })
const result = (tool_call_id: string, content: JsonValue = 'ok') => ({
  role: 'tool',
  tool_call_id,
  content,
})
const google = (thought_signature: JsonValue) => ({
  extra_content: { google: { thought_signature } },
})

describe('thought signatures', () => {
  const signatures = (messages: JsonValue[], model?: string) =>
    contentsOf(messages, model)
      .flatMap(({ parts }) => parts)
      .filter((part) => part.functionCall !== undefined)
      .map((part) => part.thoughtSignature)

  test.each([
    ['Google’s place', google('c2lnMQ==')],
    ['the name of this gateway', { thought_signature: 'c2lnMQ==' }],
    ['the service’s own name', { thoughtSignature: 'c2lnMQ==' }],
    ['both, of which Google’s counts', { ...google('c2lnMQ=='), thought_signature: 'x' }],
  ])('from %s', (_, signed) => {
    const messages = [user, calls(call('a', signed), call('b')), result('a'), result('b')]
    for (const model of ['gemini-3.5-flash', 'gemini-2.5-pro']) {
      expect(signatures(messages, model)).toEqual(['c2lnMQ==', undefined])
    }
  })

  const steps = [
    user,
    calls(call('a'), call('b')),
    result('a'),
    result('b'),
    calls(call('c', google('c2ln')), call('d')),
    result('c'),
    result('d'),
    calls(call('e')),
    result('e'),
  ]
  test.each(['gemini-3-pro-preview', 'gemini-4-flash', 'gemini-flash-latest'])(
    'lost: %s is asked not to check the first call of each step',
    (model) => {
      expect(signatures(steps, model)).toEqual([SKIP, undefined, 'c2ln', undefined, SKIP])
    },
  )

  test.each(['gemini-2.5-pro', 'gemini-2.0-flash', 'gemma-3'])('lost: %s checks none', (model) => {
    expect(signatures(steps, model)).toEqual([undefined, undefined, 'c2ln', undefined, undefined])
  })

  test('turns before the last user message are not signed', () => {
    const messages = [...steps, { role: 'assistant', content: 'Done.' }, user, calls(call('z'))]
    expect(signatures([...messages, result('z')])).toEqual([
      ...[undefined, undefined, 'c2ln', undefined, undefined],
      SKIP,
    ])
  })

  test.each([
    ['of another type', 7],
    ['empty', ''],
  ])('one that is %s is lost', (_, signature) => {
    expect(signatures([user, calls(call('a', google(signature))), result('a')])).toEqual([SKIP])
  })

  test('a message’s signature belongs to its last text, or is a separate part', () => {
    const text = { role: 'assistant', content: 'a', ...google('dGV4dA==') }
    const bare = { ...calls(call('a', google('c2ln'))), ...google('dGV4dA==') }
    const [, first, , second] = contentsOf([user, text, user, bare, result('a')])
    expect(first?.parts).toEqual([{ text: 'a', thoughtSignature: 'dGV4dA==' }])
    expect(second?.parts).toEqual([
      { text: '', thoughtSignature: 'dGV4dA==' },
      { functionCall: { name: 'f_a', args: {} }, thoughtSignature: 'c2ln' },
    ])
  })

  test('an image of the model is sent back with its signature', () => {
    const image_url = { url: 'data:image/png;base64,QUJD' }
    const drawn = {
      role: 'assistant',
      content: '',
      images: [{ type: 'image_url', image_url, index: 0, ...google('aW1n') }],
    }
    expect(contentsOf([user, drawn, user])[1]?.parts).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'QUJD' }, thoughtSignature: 'aW1n' },
    ])
  })
})

describe('results follow their calls, each one once', () => {
  const response = (name: string, output: JsonObject) => ({
    functionResponse: { name: `f_${name}`, response: output },
  })
  const none = { error: 'The result of this call is not known.' }
  const ok = { output: 'ok' }
  const answers = (messages: JsonValue[]) => contentsOf(messages, 'gemini-2.5-flash')[2]

  test.each([
    ['in another order', [result('b', 'B'), result('a', 'A')]],
    ['after a word of the user', [result('b', 'B'), user, result('a', 'A')]],
    [
      'after another turn',
      [result('b', 'B'), { role: 'assistant', content: '…' }, result('a', 'A')],
    ],
  ])('%s', (_, rest) => {
    expect(answers([user, calls(call('a'), call('b')), ...rest])).toEqual({
      role: 'user',
      parts: [response('a', { output: 'A' }), response('b', { output: 'B' })],
    })
  })

  test('missing results get a placeholder', () => {
    expect(answers([user, calls(call('a'), call('b')), result('b'), user])?.parts).toEqual([
      response('a', none),
      response('b', ok),
    ])
    expect(answers([user, calls(call('a'))])?.parts).toEqual([response('a', none)])
  })

  test('an id that is repeated in a later turn has a separate result', () => {
    const contents = contentsOf(
      [user, calls(call('a')), result('a', '1'), calls(call('a')), result('a', '2')],
      'gemini-2.5-flash',
    )
    expect([contents[2]?.parts, contents[4]?.parts]).toEqual([
      [response('a', { output: '1' })],
      [response('a', { output: '2' })],
    ])
  })

  test('a result without a call gets one', () => {
    const contents = contentsOf([user, result('x', 'R'), user])
    expect(contents).toEqual([
      hi,
      { role: 'model', parts: [{ functionCall: { name: 'unknown_tool', args: {} } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'unknown_tool', response: { output: 'R' } } }],
      },
      hi,
    ])
  })

  test('a second result of a call gets another call', () => {
    const contents = contentsOf([user, calls(call('a')), result('a'), result('a')])
    expect(contents).toHaveLength(5)
  })

  test('ids are not sent, because Vertex AI refuses them', () => {
    const sent = JSON.stringify(contentsOf([user, calls(call('a')), result('a')]))
    expect(sent).not.toContain('"id"')
  })
})

describe('what a result says', () => {
  const said = (content: JsonValue) => {
    const [, , answer] = contentsOf([user, calls(call('a')), result('a', content)])
    return (answer?.parts[0]?.functionResponse as JsonObject | undefined)?.response
  }

  test.each([
    '{"temp":7}',
    '{"nested":{"a":[1,{"b":null}]}}',
    '{"error":"no such city"}',
    '{"output":"x"}',
  ])('an object stays as it is: %s', (text) => {
    expect(said(text)).toEqual(JSON.parse(text))
  })

  test.each([
    ['a text', 'noon'],
    ['a list', '[{"a":1}]'],
    ['a number', '7'],
    ['null', 'null'],
    ['nothing', ''],
    ['a reference', '{"image":{"$ref":"a.png"}}'],
    ['a schema', '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}'],
    ['a reference in a list', '{"a":[{"b":{"$ref":"#/$defs/x"}}]}'],
    ['the service’s own members next to others', '{"output":"x","exit_code":1}'],
    ['an error with its code', '{"error":"x","code":404}'],
    ['an integer that would be rounded', '{"id":12345678901234567890}'],
    ['what nests too deep', `{"a":${'['.repeat(300)}${']'.repeat(300)}}`],
  ])('%s is a text', (_, text) => {
    expect(said(text)).toEqual({ output: text })
  })

  test('text parts are joined', () => {
    const part = (text: string) => ({ type: 'text', text })
    expect(said([part('{"a":'), part('1}')])).toEqual({ a: 1 })
  })

  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } }
  const sound = { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } }
  const inline = (mimeType: string) => ({ inlineData: { mimeType, data: 'QUJD' } })
  const seen = [{ type: 'text', text: 'See:' }, image, sound]
  const messages = [user, calls(call('a'), call('b')), result('a', seen), result('b')]

  test('images are in the result if the model supports it', () => {
    const [, , answers, beside] = contentsOf(messages, 'gemini-3.5-flash')
    expect(answers?.parts).toEqual([
      {
        functionResponse: {
          name: 'f_a',
          response: { output: 'See:' },
          parts: [inline('image/png')],
        },
      },
      { functionResponse: { name: 'f_b', response: { output: 'ok' } } },
    ])
    expect(beside).toEqual({ role: 'user', parts: [{ text: 'f_a:' }, inline('audio/wav')] })
  })

  test('otherwise they follow all results', () => {
    const [, , answers, beside] = contentsOf(messages, 'gemini-2.5-flash')
    expect(answers?.parts).toHaveLength(2)
    expect(beside).toEqual({
      role: 'user',
      parts: [{ text: 'f_a:' }, inline('image/png'), inline('audio/wav')],
    })
  })
})

describe('arguments', () => {
  const args = (text: JsonValue) => {
    const named = { ...call('a'), function: { name: 'f', arguments: text } }
    const [, model] = contentsOf([user, calls(named), result('a')])
    return (model?.parts[0]?.functionCall as JsonObject | undefined)?.args
  }

  test.each(['{"a":', '[1]', '"x"', '7', `{"a":${'['.repeat(300)}${']'.repeat(300)}}`])(
    'that are not an object are the model’s mistake: %s',
    (text) => {
      expect(args(text)).toEqual({ _raw_arguments: text })
    },
  )

  test('of a tool that takes a text: the text', () => {
    const custom = { id: 'a', type: 'custom', custom: { name: 'patch', input: '*** Begin' } }
    const [, model] = contentsOf([user, calls(custom), result('a')])
    expect(model?.parts[0]?.functionCall).toEqual({ name: 'patch', args: { input: '*** Begin' } })
  })

  test('missing ones become {}, and long integers stay', () => {
    expect(args('')).toEqual({})
    expect(args(null)).toEqual({})
    expect(args({ a: 1 })).toEqual({ a: 1 })
    expect(JSON.stringify(args('{"id":12345678901234567890}'))).toBe('{"id":12345678901234567890}')
  })
})

describe('turns', () => {
  const continued = { role: 'user', parts: [{ text: '(continued)' }] }
  const said = { role: 'assistant', content: 'Well' }
  const well = { role: 'model', parts: [{ text: 'Well' }] }

  test('a system message alone is what the model answers', () => {
    const body = { model: 'asked', messages: [{ role: 'system', content: 'Say hi.' }] }
    const call = { body, stream: false, dropped() {} }
    expect(googleRequest(call, { upstreamModel: 'gemini-3.5-flash' }, names)).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Say hi.' }] }],
    })
  })

  test('the user begins', () => {
    expect(contentsOf([said, user])).toEqual([continued, well, hi])
  })

  test('an answer to continue is last only for models that accept it', () => {
    expect(contentsOf([user, said], 'gemini-3.5-flash')).toEqual([hi, well, continued])
    expect(contentsOf([user, said], 'gemini-2.5-flash')).toEqual([hi, well])
  })

  test('empty messages are removed, and consecutive model messages merged', () => {
    const empty = { role: 'assistant', content: [{ type: 'text', text: '' }] }
    const blank = { role: 'user', content: '' }
    expect(contentsOf([user, said, empty, blank, said, user])).toEqual([
      hi,
      { role: 'model', parts: [{ text: 'Well' }, { text: 'Well' }] },
      hi,
    ])
  })

  test('thoughts and cache marks are dropped and reported', () => {
    const told: string[] = []
    const content = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'Well', cache_control: { type: 'ephemeral' } },
    ]
    const own = { role: 'assistant', content, name: 'Bo', audio: { id: 'audio_1' } }
    const body = { model: 'asked', messages: [user, own, user] }
    const call = { body, stream: false, dropped: (name: string) => void told.push(name) }
    expect(googleRequest(call, { upstreamModel: 'gemini-3' }, names).contents).toEqual([
      hi,
      well,
      hi,
    ])
    expect(told).toEqual([
      'messages[].name',
      'messages[].content[].cache_control',
      'messages[].content[].thinking',
      'messages[].audio',
    ])
  })
})
