/** The upstreams of the tests refuse what the services are known to refuse. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { strictRefusal } from './strict-clouds.ts'

const user = { role: 'user', content: [{ text: 'Go.' }] }
const toolUse = (name: string, toolUseId = 'a') => ({
  role: 'assistant',
  content: [{ toolUse: { toolUseId, name, input: {} } }],
})
const toolResult = { role: 'user', content: [{ toolResult: { toolUseId: 'a', content: [] } }] }
const spec = (name: string) => ({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } })
const point = { cachePoint: { type: 'default' } }
const history = [user, toolUse('f'), toolResult]
const toolConfig = { tools: [spec('f')] }

const converse = (fields: JsonObject, model = 'amazon.nova-pro-v1:0') =>
  strictRefusal(`/model/${model}/converse`, { messages: [user], ...fields })

describe('Converse', () => {
  test('takes what is right', () => {
    expect(converse({})).toBeUndefined()
    expect(
      converse({ messages: history, toolConfig, system: [{ text: 'x' }, point] }),
    ).toBeUndefined()
  })

  test.each<[string, JsonObject]>([
    ['extraneous key [n] is not permitted', { n: 1 }],
    ['extraneous key [type]', { messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['must start with a user message', { messages: [toolUse('f'), toolResult] }],
    ['must alternate between user and assistant', { messages: [user, user] }],
    ['is blank', { messages: [{ role: 'user', content: [{ text: ' ' }] }] }],
    ['is empty', { messages: [{ role: 'user', content: [] }] }],
    ['toolConfig field must be defined', { messages: history }],
    ['regular expression pattern', { messages: [user, toolUse('a.b'), toolResult], toolConfig }],
    ['regular expression pattern', { toolConfig: { tools: [spec('x'.repeat(65))] } }],
    [
      'extraneous key [$defs]',
      {
        toolConfig: { tools: [{ toolSpec: { name: 'f', inputSchema: { json: { $defs: {} } } } }] },
      },
    ],
    ['duplicate tool names', { toolConfig: { tools: [spec('f'), spec('f')] } }],
    ['Expected toolResult blocks', { messages: [user, toolUse('f'), user], toolConfig }],
    ['unexpected `tool_use_id`', { messages: [toolResult], toolConfig }],
    ['Found 5', { system: [{ text: 'x' }, point, point, point, point, point] }],
    [
      'trailing whitespace',
      { messages: [user, { role: 'assistant', content: [{ text: 'One, ' }] }] },
    ],
  ])('refuses: %s', (message, fields) => {
    expect(converse(fields)).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining(message) },
      headers: { 'x-amzn-errortype': 'ValidationException' },
    })
  })

  test('refuses a cache point for a model without a cache', () => {
    const refused = converse({ system: [{ text: 'x' }, point] }, 'meta.llama3-70b-instruct-v1:0')
    expect(refused?.status).toBe(403)
  })
})

const text = (text: string, more: JsonObject = {}) => ({ type: 'text', text, ...more })
const asks = { role: 'user', content: 'Go.' }
const calls = (name: string, id = 'a') => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name, input: {} }],
})
const tool = { name: 'f', input_schema: { type: 'object' } }
const mark = { cache_control: { type: 'ephemeral' } }

const vertex = (fields: JsonObject) =>
  strictRefusal('/v1/x/publishers/anthropic/models/m:rawPredict', {
    anthropic_version: 'vertex-2023-10-16',
    max_tokens: 9,
    messages: [asks],
    ...fields,
  })

describe('the messages API on a cloud', () => {
  test('takes what is right', () => {
    const messages = [
      asks,
      calls('f'),
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] },
    ]
    expect(vertex({ messages, tools: [tool] })).toBeUndefined()
  })

  test.each<[string, JsonObject]>([
    ['parallel_tool_calls: Extra inputs are not permitted', { parallel_tool_calls: false }],
    ['user: Extra inputs', { user: 'u' }],
    ['model: Extra inputs', { model: 'm' }],
    ['metadata.team: Extra inputs', { metadata: { team: 'a' } }],
    ['tools.0.custom.parameters: Extra inputs', { tools: [{ ...tool, parameters: {} }] }],
    ['max_tokens: Field required', { max_tokens: null }],
    ['anthropic_version: Field required', { anthropic_version: null }],
    ['must contain non-whitespace', { stop_sequences: ['\n'] }],
    ['may only be set to 1', { thinking: { type: 'adaptive' }, temperature: 0.5 }],
    ["match pattern '^[a-zA-Z0-9_-]{1,128}$'", { tools: [{ ...tool, name: 'a.b' }] }],
    ['only be specified while providing tools', { tool_choice: { type: 'auto' } }],
    ['first message must use', { messages: [calls('f')] }],
    ['must be non-empty', { messages: [{ role: 'user', content: [text('')] }] }],
    ['non-empty content', { messages: [{ role: 'user', content: [] }] }],
    ['trailing whitespace', { messages: [asks, { role: 'assistant', content: 'One, ' }] }],
    ['Expected toolResult', { messages: [asks, calls('f'), asks], tools: [tool] }],
    ['ids must be unique', { messages: [asks, calls('f'), asks, calls('f')], tools: [tool] }],
    [
      'Expected `thinking` or `redacted_thinking`',
      {
        messages: [
          asks,
          calls('f'),
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] },
        ],
        thinking: { type: 'enabled', budget_tokens: 1024 },
        tools: [tool],
      },
    ],
    ['Found 5', { system: ['a', 'b', 'c', 'd', 'e'].map((each) => text(each, mark)) }],
  ])('refuses: %s', (message, fields) => {
    expect(vertex(fields)).toMatchObject({
      status: 400,
      json: { error: { type: 'invalid_request_error', message: expect.stringContaining(message) } },
    })
  })

  test('is another one on each of its hosts', () => {
    const body = { max_tokens: 9, messages: [asks], model: 'm' }
    expect(strictRefusal('/anthropic/v1/messages', body)).toBeUndefined()
    expect(strictRefusal('/model/m/invoke', body)).toMatchObject({
      json: { message: 'model: Extra inputs are not permitted' },
    })
    expect(strictRefusal('/v1/chat/completions', { n: 1 })).toBeUndefined()
  })
})

const said = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go.' }] }
const asked = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }
const answered = { type: 'function_call_output', call_id: 'a', output: '' }
const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }
const strictFunction = { type: 'function', name: 'f', parameters: {}, strict: false }

const responses = (fields: JsonObject) =>
  strictRefusal('/v1/responses', { model: 'gpt-5.5', store: false, input: [said], ...fields })

describe('the responses API of OpenAI', () => {
  test('takes what is right', () => {
    const input = [said, thought, asked, answered, thought, thought, asked, answered]
    const again = { call_id: 'b' }
    const unique = input.map((item, i) => (i > 5 ? { ...item, ...again } : item))
    expect(
      responses({
        input: unique,
        tools: [strictFunction],
        tool_choice: { type: 'function', name: 'f' },
        max_output_tokens: 16,
        reasoning: { effort: 'low' },
        include: ['reasoning.encrypted_content'],
      }),
    ).toBeUndefined()
  })

  test.each<[string, JsonObject]>([
    ["Unknown parameter: 'stop'", { stop: ['x'] }],
    ["Unknown parameter: 'response_format'", { response_format: { type: 'text' } }],
    ['integer below minimum value', { max_output_tokens: 15 }],
    ["Unknown parameter: 'tools[0].function'", { tools: [{ type: 'function', function: {} }] }],
    ["Invalid type for 'tools[0].strict'", { tools: [{ ...strictFunction, strict: null }] }],
    ['does not match pattern', { tools: [{ ...strictFunction, name: 'a.b' }] }],
    ["not found in 'tools'", { tool_choice: { type: 'function', name: 'f' } }],
    ['No tool output found for function call a', { input: [said, asked] }],
    ['No tool call found for function call output', { input: [said, answered] }],
    ['Duplicate function_call', { input: [asked, answered, asked, answered] }],
    ['without its required following item', { input: [said, thought, said] }],
    ['Items are not persisted', { input: [{ ...thought, encrypted_content: undefined }, asked] }],
    ["Expected an ID that begins with 'rs'", { input: [{ ...thought, id: 'x' }, asked] }],
    ["Invalid value: 'output_text'", { input: [{ ...said, content: [{ type: 'output_text' }] }] }],
    ['empty array', { input: [{ ...said, content: [] }] }],
    ["Unknown parameter: 'input[0].name'", { input: [{ ...said, name: 'n' }] }],
    [
      'Encrypted content is not supported',
      { model: 'gpt-4.1', include: ['reasoning.encrypted_content'] },
    ],
  ])('refuses: %s', (message, fields) => {
    expect(responses(fields)?.json).toMatchObject({
      error: { message: expect.stringContaining(message), type: 'invalid_request_error' },
    })
  })
})

describe('a counter of tokens', () => {
  const MANTLE = '/anthropic/v1/messages/count_tokens'
  const VERTEX = '/v1/x/publishers/anthropic/models/count-tokens:rawPredict'
  const prompt = { model: 'm', messages: [asks] }
  const invoke = (body: JsonObject) => ({
    input: { invokeModel: { body: Buffer.from(JSON.stringify(body)).toString('base64') } },
  })
  const inner = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 1, messages: [asks] }
  const runtime = (body: JsonObject, model = 'anthropic.claude-sonnet-4-5-20250929-v1:0') =>
    strictRefusal(`/model/${model}/count-tokens`, invoke(body))

  test('takes what is right', () => {
    expect(strictRefusal(MANTLE, prompt)).toBeUndefined()
    expect(
      strictRefusal(VERTEX, { ...prompt, anthropic_version: 'vertex-2023-10-16' }),
    ).toBeUndefined()
    expect(runtime(inner)).toBeUndefined()
  })

  test.each<[string, JsonObject]>([
    ['model: Field required', { model: null }],
    ['max_tokens: Extra inputs', { max_tokens: 9 }],
    ['stream: Extra inputs', { stream: false }],
    ['does not match any of the expected tags', { tools: [{ type: 'web_search_20250305' }] }],
    [
      'messages.0.content.0.image.source: url sources are not supported',
      {
        messages: [
          { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://x' } }] },
        ],
      },
    ],
  ])('refuses: %s', (message, fields) => {
    expect(strictRefusal(MANTLE, { ...prompt, ...fields })).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining(message) } },
    })
  })

  test('of Bedrock refuses profiles, some models, and what InvokeModel would', () => {
    const unsupported = { json: { message: "The provided model doesn't support counting tokens." } }
    expect(runtime(inner, 'us.anthropic.claude-sonnet-4-6')).toMatchObject(unsupported)
    expect(runtime(inner, 'anthropic.claude-opus-4-8')).toMatchObject(unsupported)
    expect(runtime({ ...inner, max_tokens: undefined })).toMatchObject({ status: 400 })
    expect(strictRefusal('/model/anthropic.claude-x/count-tokens', prompt)).toMatchObject({
      status: 400,
    })
  })
})
