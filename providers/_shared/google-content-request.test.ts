import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { googleRequest } from './google-content-request.ts'
import { refusal } from './refusal.fixture.ts'

const user = { role: 'user', content: 'hi' }
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
const MODEL = 'gemini-2.5-flash'

function request(fields: JsonObject, { model = MODEL, stream = false } = {}): JsonObject {
  const body = { model: 'asked', messages: [user], ...fields }
  return googleRequest({ surface: 'chat_completions', body: structuredClone(body), stream }, model)
}

describe('generationConfig', () => {
  test('every field with a name of its own', () => {
    expect(
      request({
        temperature: 0,
        top_p: 0.5,
        top_k: 3,
        max_tokens: 10,
        max_completion_tokens: 20,
        presence_penalty: 0.1,
        frequency_penalty: 0.2,
        seed: 7,
        n: 2,
        stop: 'END',
        logprobs: true,
        top_logprobs: 4,
      }),
    ).toEqual({
      contents,
      generationConfig: {
        temperature: 0,
        topP: 0.5,
        topK: 3,
        maxOutputTokens: 10,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        seed: 7,
        candidateCount: 2,
        stopSequences: ['END'],
        responseLogprobs: true,
        logprobs: 4,
      },
    })
  })

  test.each([
    [{ max_completion_tokens: 20 }, { maxOutputTokens: 20 }],
    [{ max_tokens: null, max_completion_tokens: 20 }, { maxOutputTokens: 20 }],
    [{ stop: ['a', 'b'] }, { stopSequences: ['a', 'b'] }],
    [{ response_format: { type: 'json_object' } }, { responseMimeType: 'application/json' }],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { a: 1 } } } },
      { responseMimeType: 'application/json', responseJsonSchema: { a: 1 } },
    ],
  ] as [JsonObject, JsonObject][])('%j', (fields, generationConfig) => {
    expect(request(fields)).toEqual({ contents, generationConfig })
  })

  test('nothing that has no mapping goes out; what belongs to this upstream does', () => {
    const safetySettings = [{ category: 'X', threshold: 'BLOCK_NONE' }]
    expect(
      request({
        temperature: null,
        response_format: { type: 'text' },
        user: 'me',
        store: true,
        metadata: {},
        service_tier: 'flex',
        logit_bias: {},
        stream: false,
        stream_options: { include_usage: true },
        thinking: { type: 'enabled', budget_tokens: 5 },
        output_config: { effort: 'low' },
        anthropic_version: 'x',
        parallel_tool_calls: false,
        safety_settings: safetySettings,
        cachedContent: 'projects/1/cachedContents/2',
        labels: { team: 'a' },
      }),
    ).toEqual({
      contents,
      safetySettings,
      cachedContent: 'projects/1/cachedContents/2',
      labels: { team: 'a' },
    })
  })

  test.each([
    ['n in a stream', () => request({ n: 2 }, { stream: true }), 'n: '],
    [
      'streamed arguments',
      () => request({ streamFunctionCallArguments: true }),
      'streamFunctionCallArguments',
    ],
    ['a format', () => request({ response_format: { type: 'xml' } }), 'response_format'],
    [
      'a schema that is none',
      () => request({ response_format: { type: 'json_schema' } }),
      'response_format',
    ],
  ])('refused: %s', (_, run, message) => {
    expect(refusal(run)).toStartWith(message)
  })
})

describe('effort', () => {
  const level = (thinkingLevel: string) => ({ thinkingLevel, includeThoughts: true })
  const budget = (thinkingBudget: number) => ({ thinkingBudget, includeThoughts: true })
  test.each([
    ['gemini-2.5-pro', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'minimal', budget(1024)],
    ['gemini-2.5-flash-lite', 'low', budget(1024)],
    ['gemini-2.5-flash', 'medium', budget(8192)],
    ['Gemini-2.5-Flash', 'high', budget(24_576)],
    ['gemini-3-pro-preview', 'minimal', level('MINIMAL')],
    ['gemini-3.5-flash', 'low', level('LOW')],
    ['gemini-3.7-flash', 'medium', level('MEDIUM')],
    ['gemini-4-pro', 'high', level('HIGH')],
  ])('%s, %s', (model, effort, thinkingConfig) => {
    const expected = { contents, generationConfig: { thinkingConfig } }
    expect(request({ reasoning_effort: effort }, { model })).toEqual(expected as never)
    expect(request({ reasoning: { effort } }, { model })).toEqual(expected as never)
    expect(request({ reasoning_effort: effort, reasoning: { effort } }, { model })).toEqual(
      expected as never,
    )
  })

  test.each([
    ['gemini-3-pro-preview', { reasoning_effort: 'none' }],
    ['gemini-3-pro-preview', { reasoning_effort: 'xhigh' }],
    ['gemini-2.5-pro', { reasoning_effort: 'max' }],
    ['gemini-2.5-pro', { reasoning_effort: 5 }],
    ['gemini-2.0-flash', { reasoning_effort: 'low' }],
    ['gemma-3', { reasoning: { effort: 'low' } }],
    ['gemini-2.5-pro', { reasoning_effort: 'low', reasoning: { effort: 'high' } }],
    ['gemini-2.5-pro', { reasoning: 'low' }],
  ] as [string, JsonObject][])('refused: %s, %j', (model, fields) => {
    expect(refusal(() => request(fields, { model }))).toStartWith('reasoning')
  })

  test('null and an empty object ask for nothing', () => {
    expect(request({ reasoning_effort: null, reasoning: {} })).toEqual({ contents })
  })
})

describe('tools', () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const weather = {
    type: 'function',
    function: { name: 'weather', description: 'Now', parameters, strict: true },
  }
  const declared = { name: 'weather', description: 'Now', parametersJsonSchema: parameters }
  const tools = [{ functionDeclarations: [declared] }]
  const config = (functionCallingConfig: JsonObject) => ({ toolConfig: { functionCallingConfig } })

  test('functions in either shape; others are skipped', () => {
    const native = { name: 'weather', description: 'Now', input_schema: parameters }
    const bare = { type: 'function', function: { name: 'clock', description: ' ' } }
    expect(request({ tools: [weather, { type: 'web_search' }, native, bare] }).tools).toEqual([
      {
        functionDeclarations: [
          declared,
          declared,
          { name: 'clock', parametersJsonSchema: { type: 'object', properties: {} } },
        ],
      },
    ])
    expect(request({ tools: [{ type: 'web_search' }] })).toEqual({ contents })
    expect(request({ tools: [], tool_choice: 'auto' })).toEqual({ contents })
  })

  test.each([
    ['auto', { tools, ...config({ mode: 'AUTO' }) }],
    ['required', { tools, ...config({ mode: 'ANY' }) }],
    ['any', { tools, ...config({ mode: 'ANY' }) }],
    ['none', config({ mode: 'NONE' })],
    [{ type: 'auto' }, { tools, ...config({ mode: 'AUTO' }) }],
    [{ type: 'any' }, { tools, ...config({ mode: 'ANY' }) }],
    [{ type: 'none' }, config({ mode: 'NONE' })],
    [
      { type: 'tool', name: 'weather' },
      { tools, ...config({ mode: 'ANY', allowedFunctionNames: ['weather'] }) },
    ],
    [
      { type: 'function', function: { name: 'weather' } },
      { tools, ...config({ mode: 'ANY', allowedFunctionNames: ['weather'] }) },
    ],
    [
      { type: 'function', name: 'weather' },
      { tools, ...config({ mode: 'ANY', allowedFunctionNames: ['weather'] }) },
    ],
    [null, { tools }],
  ] as [JsonValue, JsonObject][])('tool_choice %j', (choice, expected) => {
    expect(request({ tools: [weather], tool_choice: choice })).toEqual({ contents, ...expected })
  })

  test.each([
    [{ tools: {} }, 'tools must be a list'],
    [{ tools: [{ type: 'function', function: {} }] }, 'tools.0.function.name'],
    [{ tool_choice: 'required' }, 'tool_choice asks for a tool'],
    [{ tools: [weather], tool_choice: 'sometimes' }, 'tool_choice must be'],
    [{ tools: [weather], tool_choice: { type: 'function' } }, 'tool_choice must be'],
    [{ tools: [weather], parallel_tool_calls: false }, 'parallel_tool_calls'],
    [
      { tools: [weather], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      'parallel_tool_calls',
    ],
  ] as [JsonObject, string][])('refused: %j', (fields, message) => {
    expect(refusal(() => request(fields))).toStartWith(message)
  })
})
