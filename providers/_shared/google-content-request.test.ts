import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { googleRequest } from './google-content-request.ts'
import { refusal } from './refusal.fixture.ts'
import { createToolNames, GOOGLE_NAMES } from './tool-names.ts'

const names = createToolNames(GOOGLE_NAMES)

const user = { role: 'user', content: 'hi' }
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
const MODEL = 'gemini-2.5-flash'

interface Options {
  readonly model?: string
  readonly stream?: boolean
  readonly dropped?: (name: string) => void
  readonly unsupportedParams?: 'drop' | 'reject'
}

function request(fields: JsonObject, options: Options = {}): JsonObject {
  const { model = MODEL, stream = false, dropped = () => {}, ...route } = options
  const body = { model: 'asked', messages: [user], ...fields }
  const call = { body: structuredClone(body), stream, dropped }
  return googleRequest(call, { upstreamModel: model, ...route }, names)
}

/** What is left out of a request with these fields. */
function leftOut(fields: JsonObject, options: Options = {}): string[] {
  const names: string[] = []
  request(fields, { ...options, dropped: (name) => names.push(name) })
  return names
}

describe('generationConfig', () => {
  test('each field with another name', () => {
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

  test('supported members are sent, others are reported', () => {
    const own = {
      safety_settings: [{ category: 'X', threshold: 'BLOCK_NONE' }],
      cachedContent: 'projects/1/cachedContents/2',
      labels: { team: 'a' },
    }
    const hints = {
      user: 'me',
      store: true,
      metadata: { a: 'b' },
      service_tier: 'flex',
      safety_identifier: 'x',
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      verbosity: 'low',
      prediction: { type: 'content', content: 'x' },
      thinking: { type: 'enabled', budget_tokens: 5 },
      output_config: { effort: 'low' },
      anthropic_version: 'x',
      something_new: 1,
    }
    const { safety_settings: safetySettings, ...same } = own
    expect(request({ ...own, ...hints })).toEqual({ contents, safetySettings, ...same })
    expect(leftOut({ ...own, ...hints })).toEqual(Object.keys(hints))
  })

  test('a parameter at its neutral value is not sent', () => {
    const neutral = {
      temperature: null,
      response_format: { type: 'text' },
      n: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      metadata: {},
      stop: [''],
      labels: {},
      safety_settings: [],
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      modalities: ['text'],
      stream: false,
      stream_options: { include_usage: true },
      service_tier: 'auto',
    }
    expect(request(neutral)).toEqual({ contents })
    expect(leftOut(neutral)).toEqual([])
    expect(request({ parallel_tool_calls: false })).toEqual({ contents })
  })

  test('images, sound and its voice', () => {
    const audio = { voice: 'Kore', format: 'pcm16' }
    expect(request({ modalities: ['text', 'image'] }).generationConfig).toEqual({
      responseModalities: ['TEXT', 'IMAGE'],
    })
    expect(request({ modalities: ['audio'], audio }).generationConfig).toEqual({
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    })
  })

  test('a seed of more than 31 bits is shortened deterministically', () => {
    const seed = (value: number) => (request({ seed: value }).generationConfig as JsonObject).seed
    expect(seed(2 ** 40 + 7)).toBe(7)
    expect(seed(-5)).toBe(5)
    expect(seed(2 ** 31 - 1)).toBe(2 ** 31 - 1)
  })

  test.each([
    ['n in a stream', () => request({ n: 2 }, { stream: true }), 'n is not supported'],
    ['logit_bias', () => request({ logit_bias: { 5: 1 } }), 'logit_bias is not supported'],
    ['functions', () => request({ functions: [{ name: 'f' }] }), 'functions is not supported'],
    ['sound as mp3', () => request({ audio: { format: 'mp3' } }), 'audio.format must be pcm16 or'],
    [
      'a stream as wav',
      () => request({ audio: { format: 'wav' } }, { stream: true }),
      'audio.format must be pcm16, not "wav"',
    ],
    [
      'streamed arguments',
      () => request({ streamFunctionCallArguments: true }),
      'streamFunctionCallArguments',
    ],
    ['a format', () => request({ response_format: { type: 'xml' } }), 'response_format'],
    [
      'an invalid schema',
      () => request({ response_format: { type: 'json_schema' } }),
      'response_format',
    ],
  ])('refused: %s', (_, run, message) => {
    expect(refusal(run)).toStartWith(message)
  })

  test('a route can drop them all, or refuse them all', () => {
    const fields = { n: 2, logit_bias: { 5: 1 }, user: 'me' }
    const drop = { stream: true, unsupportedParams: 'drop' } as const
    expect(request(fields, drop)).toEqual({ contents })
    expect(leftOut(fields, drop)).toEqual(['logit_bias', 'user', 'n'])
    expect(refusal(() => request({ user: 'me' }, { unsupportedParams: 'reject' }))).toStartWith(
      'user is not supported',
    )
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
    ['gemini-flash-latest', 'low', level('LOW')],
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

  test('functions in either format, each name once', () => {
    const native = { name: 'weather', description: 'Now', input_schema: parameters }
    const bare = { type: 'function', function: { name: 'clock', description: ' ' } }
    expect(request({ tools: [weather, native, bare] }).tools).toEqual([
      {
        functionDeclarations: [
          declared,
          { name: 'clock', parametersJsonSchema: { type: 'object', properties: {} } },
        ],
      },
    ])
    expect(request({ tools: [], tool_choice: 'auto' })).toEqual({ contents })
  })

  test.each([
    [{ type: 'web_search' }, { googleSearch: {} }],
    [{ type: 'web_search_preview_2025_03_11' }, { googleSearch: {} }],
    [{ type: 'code_interpreter', container: { type: 'auto' } }, { codeExecution: {} }],
    [{ type: 'url_context' }, { urlContext: {} }],
    [{ google_search: { exclude_domains: ['x'] } }, { google_search: { exclude_domains: ['x'] } }],
    [{ googleMaps: {} }, { googleMaps: {} }],
  ] as [JsonObject, JsonObject][])('tools that the service runs: %j', (tool, sent) => {
    expect(request({ tools: [tool] })).toEqual({ contents, tools: [sent] })
    expect(request({ tools: [tool, weather] }).tools).toEqual([...tools, sent])
  })

  test('a search that is requested by its options', () => {
    expect(request({ web_search_options: {} })).toEqual({ contents, tools: [{ googleSearch: {} }] })
    const web_search_options = { search_context_size: 'low', user_location: null }
    expect(leftOut({ web_search_options })).toEqual(['web_search_options.search_context_size'])
  })

  test('only allowed tools are offered', () => {
    const clock = { type: 'function', function: { name: 'clock' } }
    const only = { type: 'function', function: { name: 'weather' } }
    for (const [mode, sent] of [
      ['auto', 'AUTO'],
      ['required', 'ANY'],
    ]) {
      const allowed_tools = { mode, tools: [only] }
      expect(
        request({
          tools: [weather, clock],
          tool_choice: { type: 'allowed_tools', allowed_tools },
        }),
      ).toEqual({ contents, tools, ...config({ mode: sent }) })
    }
  })

  test('cache marks are reported as dropped', () => {
    const marked = { ...weather, cache_control: { type: 'ephemeral' } }
    expect(leftOut({ tools: [marked] })).toEqual(['tools[].cache_control'])
  })

  test.each([
    ['auto', { tools }],
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
    [{ tools: [{ type: 'custom', name: 'f' }] }, 'tools.0.type: "custom" is not supported'],
    [{ tools: [weather, { type: 'file_search' }] }, 'tools.1.type: "file_search"'],
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
