import { expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { testSurface } from 'model-gateway/testing'
import { createChatStream, streamEvent } from 'model-gateway/wire'
import { googleDialect } from './dialect/index.ts'
import plugin from './index.ts'

const request = {
  model: 'fast',
  stream: true,
  systemInstruction: { parts: [{ text: 'Be short.' }] },
  contents: [
    {
      role: 'user',
      parts: [{ text: 'Where is this?' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }],
    },
    {
      role: 'model',
      parts: [
        { text: 'Let me see.', thought: true },
        { functionCall: { name: 'look_up', args: { id: 7 } }, thoughtSignature: 'c2ln' },
        { functionCall: { id: 'c2', name: 'look_up', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'look_up', response: { output: 'Oslo' } } },
        { functionResponse: { id: 'c2', name: 'look_up', response: { error: 'no such id' } } },
        { text: 'And now?' },
      ],
    },
  ],
  tools: [
    {
      functionDeclarations: [
        {
          name: 'look_up',
          description: 'Finds a place',
          parameters: {
            type: 'OBJECT',
            properties: { id: { type: 'INTEGER', nullable: true }, type: { type: 'STRING' } },
            propertyOrdering: ['id', 'type'],
            required: ['id'],
          },
        },
        { name: 'other', parametersJsonSchema: { type: 'object' } },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look_up'] } },
  generationConfig: {
    ...{
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      maxOutputTokens: 99,
      stopSequences: ['END'],
      seed: 1,
    },
    responseMimeType: 'application/json',
    responseSchema: { type: 'ARRAY', items: { type: 'STRING' }, minItems: '1' },
    thinkingConfig: { thinkingBudget: 0, includeThoughts: true },
  },
  safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
}
/** The same as its proto file spells it. */
const snake = JSON.parse(
  JSON.stringify(request).replace(
    /"([a-z]+[A-Z]\w+)":/g,
    (_, name: string) => `"${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}":`,
  ),
) as JsonObject
const asChat = {
  model: 'fast',
  stream: true,
  messages: [
    { role: 'system', content: 'Be short.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Where is this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call_1_1',
          type: 'function',
          function: { name: 'look_up', arguments: '{"id":7}' },
          extra_content: { google: { thought_signature: 'c2ln' } },
        },
        { id: 'c2', type: 'function', function: { name: 'look_up', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1_1', content: 'Oslo' },
    { role: 'tool', tool_call_id: 'c2', content: '{"error":"no such id"}' },
    { role: 'user', content: 'And now?' },
  ],
  tools: [
    {
      type: 'function',
      function: {
        name: 'look_up',
        description: 'Finds a place',
        parameters: {
          type: 'object',
          properties: { id: { type: ['integer', 'null'] }, type: { type: 'string' } },
          required: ['id'],
        },
      },
    },
  ],
  tool_choice: 'required',
  ...{ temperature: 0.5, top_p: 0.9, top_k: 40, max_tokens: 99, stop: ['END'], seed: 1 },
  response_format: {
    type: 'json_schema',
    json_schema: {
      name: 'response',
      schema: { type: 'array', items: { type: 'string' }, minItems: 1 },
    },
  },
}
const counters = {
  promptTokenCount: 12,
  candidatesTokenCount: 6,
  totalTokenCount: 21,
  thoughtsTokenCount: 3,
  cachedContentTokenCount: 4,
}
const call = { functionCall: { name: 'look_up', args: { city: 'Oslo' } }, thoughtSignature: 'c2ln' }
const reply = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [{ text: 'Hm.', thought: true }, { text: 'To the sea.' }, call],
      },
      finishReason: 'STOP',
      index: 0,
      groundingMetadata: { webSearchQueries: ['rivers'] },
    },
  ],
  usageMetadata: counters,
  modelVersion: 'gemini-3-pro',
  responseId: 'r1',
}
const said = (parts: readonly object[], more: object = {}, whole: object = {}) =>
  streamEvent(
    JSON.stringify({
      candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
      modelVersion: 'gemini-3-pro',
      ...whole,
    }),
  )
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
  streamEvent(
    JSON.stringify({
      ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'upstream' },
      choices: [{ index: 0, delta, finish_reason }],
      ...more,
    }),
  )
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }

testSurface({
  plugin,
  surfaces: {
    google: {
      takes: [request, snake],
      refuses: [
        { body: { model: 'fast' }, field: 'contents' },
        { body: { model: 'fast', contents: [] }, field: 'contents' },
        { body: { model: 'fast', contents: ['hi'] }, field: 'contents' },
      ],
    },
  },
  dialects: {
    google: {
      replies: [reply, { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: counters }],
      malformed: [{ candidates: {}, usageMetadata: counters }],
      stream: [
        said([{ text: 'Hm.', thought: true }]),
        said([{ text: 'To ' }]),
        said([{ text: 'the sea.' }], { groundingMetadata: { webSearchQueries: ['rivers'] } }),
        said([call], { finishReason: 'STOP' }, { usageMetadata: counters }),
      ],
    },
  },
  conversions: [
    {
      from: 'google',
      to: 'chat_completions',
      requests: [
        { from: request, to: asChat },
        { from: snake, to: asChat },
      ],
      replies: [
        {
          to: {
            id: 'chatcmpl-1',
            object: 'chat.completion',
            choices: [
              {
                index: 0,
                message: {
                  role: 'assistant',
                  reasoning: 'Hm.',
                  content: 'To the sea.',
                  tool_calls: [
                    {
                      id: 'c1',
                      type: 'function',
                      function: { name: 'look_up', arguments: '{"id":9007199254740993}' },
                    },
                  ],
                },
                finish_reason: 'tool_calls',
              },
            ],
          },
          from: {
            candidates: [
              {
                content: {
                  role: 'model',
                  parts: [
                    { text: 'Hm.', thought: true },
                    { text: 'To the sea.' },
                    { functionCall: { id: 'c1', name: 'look_up' } },
                  ],
                },
                finishReason: 'STOP',
                index: 0,
              },
            ],
            usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
            responseId: 'chatcmpl-1',
          },
        },
      ],
      stream: {
        open: createChatStream,
        events: [
          chunk({ role: 'assistant', content: '' }),
          chunk({ content: 'To the ' }),
          chunk({ content: 'sea.' }),
          chunk({
            tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{"a"' } }],
          }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
          chunk({}, 'tool_calls'),
          chunk({}, null, { choices: [], usage }),
          streamEvent('[DONE]'),
        ],
      },
    },
  ],
})

test('guards see and can replace the texts of request and reply', () => {
  const { promptTexts, replyTexts, madeToolCalls, earlierToolCalls } = googleDialect.views
  const document = { inlineData: { mimeType: 'text/plain', data: btoa('a note') } }
  const asked = { ...request, contents: [...request.contents, { role: 'user', parts: [document] }] }
  const prompt = promptTexts(asked)
  expect(prompt.segments).toEqual([
    ...['Be short.', 'Where is this?', 'Let me see.', '{"id":7}', '{}', '{"output":"Oslo"}'],
    ...['{"error":"no such id"}', 'And now?', 'a note'],
  ])
  const masked = JSON.stringify(prompt.replace(prompt.segments.map(() => '{"m":1}')))
  expect(masked).not.toMatch(/short|Where|Oslo|And now/)
  expect(masked).toContain(btoa('{"m":1}'))
  expect(earlierToolCalls(asked).map(({ tool }) => tool)).toEqual(['look_up', 'look_up'])
  expect(replyTexts(reply).segments).toEqual(['Hm.', 'To the sea.'])
  const made = madeToolCalls(reply)
  expect(made.calls).toEqual([{ tool: 'look_up', arguments: '{"city":"Oslo"}' }])
  const changed = made.replace([{ tool: 'look_up', arguments: '{"city":"Rome"}' }])
  expect(JSON.stringify(changed)).toContain('{"city":"Rome"}')
})
