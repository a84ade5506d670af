import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { edgeMessages, invokeMessages, rawPredictMessages } from './messages-dialect.ts'
import { sentBody as body, messages, refusal, send, tool } from './messages-request.fixture.ts'

const all = { rawPredictMessages, invokeMessages, edgeMessages }

describe('differences of the dialects', () => {
  test('rawPredict', () => {
    expect(body(rawPredictMessages, {})).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      stream: false,
    })
    expect(body(rawPredictMessages, {}, { stream: true }).stream).toBe(true)
    expect(body(rawPredictMessages, { max_tokens: null }).max_tokens).toBe(4096)
    expect(body(rawPredictMessages, { anthropic_version: 'v2' }).anthropic_version).toBe('v2')
    const system = [{ role: 'system', content: 'a' }, ...messages]
    expect(body(rawPredictMessages, { messages: system, system: 'b' }).system).toBe('b')
  })

  test('InvokeModel', () => {
    expect(body(invokeMessages, {}, { stream: true })).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    })
  })

  test('the edge', () => {
    expect(body(edgeMessages, {})).toEqual({
      model: 'claude-sonnet-4-6',
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    })
    expect(body(edgeMessages, {}, { stream: true }).stream).toBe(true)
  })

  test('betas are sent in the body or as a header', () => {
    const betas = { anthropic_beta: ['a', 'b'] }
    expect(send(invokeMessages, betas)).toMatchObject({ body: betas, betas: [] })
    expect(send(rawPredictMessages, betas)).toMatchObject({ body: betas, betas: [] })
    const edge = send(edgeMessages, betas)
    expect(edge.betas).toEqual(['a', 'b'])
    expect(edge.body).not.toHaveProperty('anthropic_beta')
  })
})

describe.each(Object.entries(all))('every dialect maps: %s', (_, dialect) => {
  test('the limit from either name', () => {
    const limits = { max_tokens: 5, max_completion_tokens: 6 }
    expect(body(dialect, limits).max_tokens).toBe(5)
    const other = body(dialect, { max_tokens: null, max_completion_tokens: 6 })
    expect(other.max_tokens).toBe(6)
    expect(other).not.toHaveProperty('max_completion_tokens')
  })

  test('system and developer texts, joined by a blank line', () => {
    const sent = body(dialect, {
      messages: [
        { role: 'system', content: 'One.' },
        { role: 'developer', content: [{ type: 'text', text: 'Two.' }] },
        { role: 'system', content: '' },
        ...messages,
        { role: 'system', content: 'Three.' },
      ],
    })
    expect(sent.system).toBe('One.\n\nTwo.\n\nThree.')
    expect(sent.messages).toHaveLength(1)
  })

  test('tool calls and their results, with the user message that follows', () => {
    const sent = body(dialect, {
      tools: [tool],
      messages: [
        { role: 'user', content: 'Oslo?' },
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [
            {
              id: 'a',
              type: 'function',
              function: { name: 'weather', arguments: '{"city":"Oslo"}' },
            },
            { id: 'b', type: 'function', function: { name: 'weather', arguments: '' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'snow' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'rain' }] },
        { role: 'user', content: [{ type: 'text', text: 'And?' }] },
      ],
    })
    expect((sent.messages as JsonObject[]).slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Oslo' } },
          { type: 'tool_use', id: 'b', name: 'weather', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'snow' },
          { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'rain' }] },
          { type: 'text', text: 'And?' },
        ],
      },
    ])
  })

  test('function tools and the choice among them', () => {
    const sent = body(dialect, {
      tools: [
        tool,
        { type: 'function', function: { name: 'bare', description: ' ', strict: true } },
      ],
    })
    expect(sent.tools).toEqual([
      { name: 'weather', description: 'Now', input_schema: { type: 'object' } },
      { name: 'bare', input_schema: { type: 'object', properties: {} } },
    ])
    expect(sent).not.toHaveProperty('tool_choice')
    const named = { type: 'function', function: { name: 'weather' } }
    for (const [choice, wire] of [
      ['auto', undefined],
      ['required', { type: 'any' }],
      [named, { type: 'tool', name: 'weather' }],
      [{ type: 'any' }, { type: 'any' }],
    ] as [JsonValue, JsonObject | undefined][]) {
      expect(body(dialect, { tools: [tool], tool_choice: choice }).tool_choice).toEqual(wire)
    }
  })

  test('a ban on parallel calls in a choice that the upstream supports unchanged', () => {
    const ban = { disable_parallel_tool_use: true }
    for (const type of ['auto', 'any']) {
      const choice = { type, ...ban }
      expect(body(dialect, { tools: [tool], tool_choice: choice }).tool_choice).toEqual(choice)
    }
  })

  test.each<[JsonObject, JsonObject]>([
    [{}, { type: 'object' }],
    [{ properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
    [{ type: ['object', 'null'] }, { type: ['object', 'null'] }],
  ])('a schema that leaves out that arguments are an object: %j', (parameters, schema) => {
    const sent = body(dialect, {
      tools: [{ type: 'function', function: { name: 'f', parameters } }],
    })
    expect(sent.tools).toEqual([{ name: 'f', input_schema: schema }])
  })

  test('blank texts are left out, because the upstream refuses them', () => {
    const call = { id: 'a', type: 'function', function: { name: 'weather' } }
    const sent = body(dialect, {
      tools: [tool],
      messages: [
        { role: 'system', content: ' ' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '\n' },
            { type: 'text', text: ' hi ' },
          ],
        },
        { role: 'assistant', content: '\n\n', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: ' ' }] },
      ],
    })
    expect(sent).not.toHaveProperty('system')
    expect(sent.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: ' hi ' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'weather', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [] }] },
    ])
  })

  test('empty assistant turns are left out, because the upstream refuses them', () => {
    const said = (role: string, content: JsonValue) => ({ role, content })
    const nothing = ['', null, []].map((content) => said('assistant', content))
    const sent = body(dialect, { messages: [...messages, ...nothing, said('user', 'Well?')] })
    expect(sent.messages).toEqual(
      body(dialect, { messages: [...messages, said('user', 'Well?')] }).messages,
    )
    expect(sent.messages).toHaveLength(1)
  })

  test('copied members', () => {
    const copied = {
      temperature: 0.5,
      top_p: 0.9,
      top_k: 3,
      container: { id: 'c' },
      context_management: { edits: [] },
      metadata: { user_id: 'u' },
    }
    expect(body(dialect, copied)).toMatchObject(copied)
    expect(body(dialect, { stop: 'x' }).stop_sequences).toEqual(['x'])
    expect(body(dialect, { stop: ['x', 'y'] }).stop_sequences).toEqual(['x', 'y'])
    expect(body(dialect, { stop_sequences: ['z'] }).stop_sequences).toEqual(['z'])
    expect(body(dialect, { stop: 'x' })).not.toHaveProperty('stop')
  })

  test('null as absent, stream options not at all', () => {
    const plain = body(dialect, {})
    expect(
      body(dialect, {
        stream_options: { include_usage: true },
        temperature: null,
        stop: null,
        tools: null,
        tool_choice: null,
        user: null,
        reasoning: null,
        thinking: null,
      }),
    ).toEqual(plain)
  })

  test('extra_body over all of it, recursively', () => {
    const extraBody = { max_tokens: 7, metadata: { b: 2 }, stop_sequences: ['z'], speed: 'fast' }
    const sent = send(dialect, { metadata: { user_id: 'u' }, stop: 'y' }, { extraBody })
    expect(sent.body).toMatchObject({ ...extraBody, metadata: { user_id: 'u', b: 2 } })
    expect(sent.billingModifiers).toEqual(['speed'])
  })

  test('a reasoning field in extra_body past the reasoning rules', () => {
    const extraBody = { thinking: { type: 'enabled' } }
    expect(body(dialect, {}, { extraBody }).thinking).toEqual({ type: 'enabled' })
  })

  test.each<[string, JsonObject]>([
    ['messages', { messages: 'hi' }],
    ['messages.0', { messages: ['hi'] }],
    ['messages', { messages: [] }],
    ['messages', { messages: [{ role: 'system', content: 'alone' }] }],
    ['messages.0.role', { messages: [{ role: 'function', content: 'x' }] }],
    ['messages.0.role', { messages: [{ content: 'x' }] }],
    ['messages.0.content', { messages: [{ role: 'user', content: 7 }] }],
    ['messages.0.content.0', { messages: [{ role: 'user', content: ['x'] }] }],
    [
      'messages.0.content.0.type',
      { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
    ],
    ['messages.0.content.0.text', { messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['messages.0.tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
    [
      'messages.0.tool_calls.0.id',
      {
        messages: [
          { role: 'assistant', tool_calls: [{ type: 'function', function: { name: 'f' } }] },
        ],
      },
    ],
    [
      'messages.0.tool_calls.0.type',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'a', type: 'hosted' }] }] },
    ],
    [
      'messages.0.tool_calls.0.function.name',
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: {} }] },
        ],
      },
    ],
    ['tools', { tools: {} }],
    ['tools.0.function.name', { tools: [{ type: 'function', function: {} }] }],
    ['tool_choice', { tools: [tool], tool_choice: 'sometimes' }],
    ['tool_choice', { tool_choice: 'required' }],
    ['tool_choice', { tools: [], tool_choice: { type: 'function', function: { name: 'f' } } }],
    [
      'messages.0.content.0.image_url',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }],
          },
        ],
      },
    ],
  ])('refuses a wrong %s: %j', (field, fields) => {
    expect(() => send(dialect, fields)).toThrow(refusal(field))
  })
})
