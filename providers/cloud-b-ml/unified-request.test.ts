import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { unifiedRequest } from './unified-request.ts'

const messages: JsonValue = [{ role: 'user', content: 'hi' }]
const NOVA = 'amazon.nova-pro-v1:0'

function send(fields: JsonObject, upstreamModel = NOVA, extraBody: JsonObject = {}) {
  return unifiedRequest(
    { upstreamModel, extraBody },
    { body: { model: 'asked', messages, ...fields }, dropped() {} },
  )
}
const body = (...args: Parameters<typeof send>) =>
  JSON.parse(JSON.stringify(send(...args).body)) as JsonObject

const refusal = (message: string) =>
  expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(message) })

const tool = {
  type: 'function',
  function: { name: 'weather', description: 'Now', parameters: { type: 'object' }, strict: true },
}
const call = (id: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: args },
})
const file = (filename: string | undefined, file_data: string) => ({
  type: 'file',
  file: { ...(filename === undefined ? {} : { filename }), file_data },
})

describe('the mapping', () => {
  test('of a minimal call sends no other members', () => {
    expect(body({ stream: true, stream_options: { include_usage: true }, user: null })).toEqual({
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
    })
  })

  test('one system entry for each message', () => {
    const sent = body({
      messages: [
        { role: 'system', content: 'One.' },
        { role: 'developer', content: [{ type: 'text', text: 'Two.' }] },
        { role: 'system', content: '' },
        { role: 'user', content: 'hi' },
      ],
    })
    expect(sent.system).toEqual([{ text: 'One.' }, { text: 'Two.' }])
  })

  test('turns alternate: results join, equal roles merge, empty ones are removed', () => {
    const long = 'call:'.repeat(20)
    const id = `tool_${new Bun.CryptoHasher('sha256').update(long).digest('base64url')}`
    const sent = body({
      tools: [tool],
      messages: [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('t1', '{"city":"Oslo"}'), call(long)],
        },
        { role: 'tool', tool_call_id: 't1', content: 'snow' },
        { role: 'tool', tool_call_id: long, content: '' },
        { role: 'user', content: 'and?' },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'well?' },
      ],
    })
    expect(sent.messages).toEqual([
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
      {
        role: 'assistant',
        content: [
          { toolUse: { toolUseId: 't1', name: 'weather', input: { city: 'Oslo' } } },
          { toolUse: { toolUseId: id, name: 'weather', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 't1', content: [{ text: 'snow' }] } },
          { toolResult: { toolUseId: id, content: [] } },
          { text: 'and?' },
          { text: 'well?' },
        ],
      },
    ])
  })

  test('texts of white space alone are left out: the service calls them blank', () => {
    const sent = body({
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content: '\n\n', tool_calls: [call('t1')] },
        { role: 'tool', tool_call_id: 't1', content: '\n' },
        {
          role: 'user',
          content: [
            { type: 'text', text: ' ' },
            { type: 'text', text: ' Well? ' },
          ],
        },
      ],
    })
    expect(sent.messages).toEqual([
      { role: 'user', content: [{ text: 'Go.' }] },
      {
        role: 'assistant',
        content: [{ toolUse: { toolUseId: 't1', name: 'weather', input: {} } }],
      },
      {
        role: 'user',
        content: [{ toolResult: { toolUseId: 't1', content: [] } }, { text: ' Well? ' }],
      },
    ])
  })

  test('images and files', () => {
    const content = [
      { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,anBn' } },
      file('Größe_2026  (final).v2.pdf', 'data:application/pdf;base64,cGRm'),
      file(undefined, 'data:text/markdown;base64,bWQ='),
      { type: 'text', text: 'What?' },
    ]
    expect(body({ messages: [{ role: 'user', content }] }).messages).toEqual([
      {
        role: 'user',
        content: [
          { image: { format: 'jpeg', source: { bytes: 'anBn' } } },
          {
            document: {
              format: 'pdf',
              name: 'Gr e 2026 (final) v2',
              source: { bytes: 'cGRm' },
            },
          },
          { document: { format: 'md', name: 'document', source: { bytes: 'bWQ=' } } },
          { text: 'What?' },
        ],
      },
    ])
  })

  test('the documents of a conversation have distinct names', () => {
    const pdf = 'data:application/pdf;base64,cGRm'
    const text = { type: 'text', text: 'What?' }
    const long = 'x'.repeat(200)
    const sent = body({
      messages: [
        { role: 'tool', tool_call_id: 't1', content: [file('report.pdf', pdf)] },
        { role: 'user', content: [file('Report.md', pdf), file('document 3', pdf), text] },
        { role: 'assistant', content: 'That.' },
        {
          role: 'user',
          content: [file(undefined, pdf), file('', pdf), file(long, pdf), file(long, pdf), text],
        },
      ],
    })
    const names = [...JSON.stringify(sent.messages).matchAll(/"name":"([^"]*)","source"/g)].map(
      (m) => m[1],
    )
    expect(names).toEqual([
      'report',
      'Report 2',
      'document 3',
      'document',
      'document 4',
      long,
      `${'x'.repeat(198)} 5`,
    ])
  })

  test('a tool result may hold images, and may have failed', () => {
    const image = { type: 'image_url', image_url: 'data:image/png;base64,cG5n' }
    const part = { type: 'tool_result', tool_use_id: 't', content: [image], is_error: true }
    const sent = body({
      messages: [
        { role: 'user', content: 'Where?' },
        { role: 'assistant', content: null, tool_calls: [call('t1'), call('t')] },
        { role: 'tool', tool_call_id: 't1', content: [image, { type: 'text', text: 'a map' }] },
        { role: 'user', content: [part] },
      ],
    })
    const wire = { image: { format: 'png', source: { bytes: 'cG5n' } } }
    expect((sent.messages as JsonValue[]).slice(2)).toEqual([
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 't1', content: [wire, { text: 'a map' }] } },
          { toolResult: { toolUseId: 't', content: [wire], status: 'error' } },
        ],
      },
    ])
  })

  test('inferenceConfig', () => {
    const fields = { max_tokens: 5, temperature: 0.5, top_p: 0.9, stop: 'x' }
    expect(body(fields).inferenceConfig).toEqual({
      maxTokens: 5,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ['x'],
    })
    expect(body({ ...fields, max_completion_tokens: 6 }).inferenceConfig).toMatchObject({
      maxTokens: 6,
    })
    expect(body({ stop: ['x', 'y'], temperature: null }).inferenceConfig).toEqual({
      stopSequences: ['x', 'y'],
    })
  })

  test('tools and the choice among them', () => {
    const toolSpec = {
      name: 'weather',
      description: 'Now',
      inputSchema: { json: { type: 'object' } },
    }
    expect(body({ tools: [tool] }).toolConfig).toEqual({
      tools: [{ toolSpec: { ...toolSpec, strict: true } }],
    })
    for (const [choice, toolChoice] of [
      ['auto', undefined],
      ['required', { any: {} }],
      [{ type: 'function', function: { name: 'weather' } }, { tool: { name: 'weather' } }],
    ] as [JsonValue, JsonObject | undefined][]) {
      const sent = body({ tools: [tool], tool_choice: choice }).toolConfig as JsonObject
      expect(sent.toolChoice).toEqual(toolChoice)
    }
    expect(body({ tools: [tool], tool_choice: 'none' })).not.toHaveProperty('toolConfig')
    const history = [
      ...messages,
      { role: 'assistant', tool_calls: [call('t')] },
      { role: 'tool', tool_call_id: 't', content: 'x' },
    ]
    const kept = body({ tools: [tool], tool_choice: 'none', messages: history })
    expect(Object.keys(kept.toolConfig as JsonObject)).toEqual(['tools'])
  })

  test.each(['opus-4-7', 'opus-4-8', 'opus-5', 'fable-5', 'sonnet-5'])(
    'strict is left out for claude-%s',
    (name) => {
      const strictOf = (model: string) =>
        JSON.stringify(body({ tools: [tool] }, model)).includes('"strict"')
      expect(strictOf(`us.anthropic.claude-${name}-v1:0`)).toBe(false)
      expect(strictOf(`anthropic.claude-${name}-20261101-v1:0`)).toBe(false)
      expect(strictOf('anthropic.claude-opus-4-6-v1:0')).toBe(true)
    },
  )

  test.each(['opus-5-5', 'fable-5-1', 'sonnet-5-5', 'opus-5-5-20261101'])(
    'strict stays for the later claude-%s',
    (name) => {
      const sent = body({ tools: [tool] }, `global.anthropic.claude-${name}`)
      expect(JSON.stringify(sent)).toContain('"strict":true')
    },
  )

  test.each<[string, string, JsonValue, JsonValue]>([
    ['additionalModelRequestFields', 'additional_model_request_fields', { top_k: 4 }, 'x'],
    ['requestMetadata', 'request_metadata', { team: 'a' }, { team: 1 }],
    ['requestMetadata', 'request_metadata', { team: '' }, { team: 'größer' }],
    ['requestMetadata', 'request_metadata', { a: 'b'.repeat(256) }, { a: 'b'.repeat(257) }],
    [
      'requestMetadata',
      'request_metadata',
      Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 'v'])),
      Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])),
    ],
    ['performanceConfig', 'performance_config', { latency: 'standard' }, { latency: 'fast' }],
    [
      'guardrailConfig',
      'guardrail_config',
      { guardrailIdentifier: 'g', guardrailVersion: '1' },
      {},
    ],
    [
      'additionalModelResponseFieldPaths',
      'additional_model_response_field_paths',
      Array(10).fill('/x'),
      Array(11).fill('/x'),
    ],
  ])('%s and %s are one thing, checked', (name, alias, good, bad) => {
    expect(body({ [name]: good })[name]).toEqual(good)
    expect(body({ [alias]: good })[name]).toEqual(good)
    expect(() => send({ [name]: good, [alias]: good })).toThrow(refusal(alias))
    expect(() => send({ [name]: bad })).toThrow(refusal(name))
    expect(() => send({ [alias]: bad })).toThrow(refusal(alias))
  })

  test('extra_body over all of it, recursively, and its price', () => {
    const extraBody = { inferenceConfig: { topP: 0.1 }, serviceTier: { type: 'flex' } }
    const sent = send({ temperature: 0.5 }, NOVA, extraBody)
    expect(sent.body.inferenceConfig).toEqual({ temperature: 0.5, topP: 0.1 })
    expect(sent.billingModifiers).toEqual(['service_tier'])
    expect(send({ performanceConfig: { latency: 'optimized' } }).billingModifiers).toEqual([
      'latency',
    ])
    expect(send({ performanceConfig: { latency: 'standard' } }).billingModifiers).toEqual([])
  })
})
