import { expect, test } from 'bun:test'
import { contextOverflow } from './context-overflow.ts'
import { readErrorWords } from './error-words.ts'

const messageIn = (text: string) => readErrorWords(JSON.parse(text)).message

test.each([
  [
    'OpenAI',
    '{"error":{"message":"No such model","type":"x","param":null,"code":"m"}}',
    'No such model',
  ],
  [
    'Anthropic',
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    'Overloaded',
  ],
  [
    'Google',
    '{"error":{"code":400,"message":"Bad field","status":"INVALID_ARGUMENT"}}',
    'Bad field',
  ],
  [
    'Google, streamed',
    '[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}]',
    'Quota',
  ],
  ['AWS', '{"message":"Malformed input request"}', 'Malformed input request'],
  ['AWS, older', '{"Message":"User is not authorized"}', 'User is not authorized'],
  ['a bare string', '{"error":"model not loaded"}', 'model not loaded'],
  ['FastAPI', '{"detail":"Not Found"}', 'Not Found'],
  [
    'FastAPI, field by field',
    '{"detail":[{"type":"missing","loc":["body","messages",0,"role"],"msg":"Field required","input":{}},{"loc":["body","n"],"msg":"too large"}]}',
    'body.messages.0.role: Field required; body.n: too large',
  ],
  [
    'Mistral',
    '{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted","input":true}]},"type":"invalid_request_error","param":null,"code":null}',
    'body.store: Extra inputs are not permitted',
  ],
  [
    'Mistral, newer',
    '{"object":"Error","detail":[{"loc":["body","tools"],"msg":"Bad"}],"message":[{"loc":["body","tools"],"msg":"Bad"}],"type":"invalid_request_error","code":3001}',
    'body.tools: Bad',
  ],
  ['FastAPI, an object', '{"detail":{"message":"No","code":"c"}}', 'No'],
  ['Cohere', '{"id":"e","message":"invalid api token"}', 'invalid api token'],
  ['OAuth', '{"error":"invalid_grant","error_description":"Bad token"}', 'Bad token'],
  ['Cloudflare', '{"success":false,"errors":[{"code":7003,"message":"No route"}]}', 'No route'],
  ['xAI', '{"code":"Some resource","error":"Model not found"}', 'Model not found'],
])('the message of an error of %s', (_, text, message) => {
  expect(messageIn(text)).toBe(message)
})

test.each([
  'null',
  '[]',
  '42',
  '{"error":{}}',
  '{"error":{"message":" "}}',
  '{"detail":[]}',
  '{"detail":[null,{"msg":7},{"loc":"body"}]}',
  '{"error":"<!DOCTYPE html><p>host-17"}',
  '{"error":{"message":"502: <html>host-17</html>"}}',
  '{"detail":"<html>","message":"<HTML lang=en>"}',
])('no message in %p', (text) => {
  expect(messageIn(text)).toBeUndefined()
})

test.each([
  ['OpenAI', { error: { code: 'c', type: 't', param: 'input' } }, ['c', 't', 'input']],
  ['OpenAI, a type alone', { error: { code: null, type: 'tokens' } }, [undefined, 'tokens']],
  [
    'Anthropic',
    { type: 'error', error: { type: 'overloaded_error' } },
    [undefined, 'overloaded_error'],
  ],
  ['Anthropic, flat', { type: 'error', code: 'busy', message: 'm' }, ['busy']],
  ['LiteLLM', { error: { code: '400', type: 'throttling' } }, ['400', 'throttling']],
  ['OpenRouter', { error: { code: 429, message: 'm' } }, ['429']],
  ['Google', { error: { code: 400, status: 'INVALID_ARGUMENT' } }, ['INVALID_ARGUMENT']],
  ['Google, in a list', [{ error: { code: 429, status: 'QUOTA' } }], ['QUOTA']],
  [
    'Google, with the field',
    {
      error: {
        status: 'INVALID_ARGUMENT',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.Help' },
          {
            '@type': 'type.googleapis.com/google.rpc.BadRequest',
            fieldViolations: [{ field: 'a.b' }],
          },
        ],
      },
    },
    ['INVALID_ARGUMENT', undefined, 'a.b'],
  ],
  [
    'AWS',
    { __type: 'com.amazon.coral#ValidationException', message: 'm' },
    ['ValidationException'],
  ],
  [
    'Mistral',
    { object: 'error', message: 'm', type: 'invalid', code: '3001' },
    ['3001', 'invalid'],
  ],
  ['FastAPI', { detail: [{ loc: ['body', 'n'], msg: 'bad' }] }, [undefined, undefined, 'n']],
  ['Hugging Face', { error: 'busy', error_type: 'overloaded' }, [undefined, 'overloaded']],
] as const)('the words of an error of %s', (_, error, [code, type, param]) => {
  expect(readErrorWords(JSON.parse(JSON.stringify(error)))).toMatchObject({ code, type, param })
})

// As the services write them; LiteLLM, opencode and crewAI have lists of the same.
test.each<[string, ...(number | undefined)[]]>([
  ['prompt is too long: 210118 tokens > 200000 maximum', 210118, 200000],
  ['The model returned the following errors: prompt is too long: 9 tokens > 8 maximum', 9, 8],
  ['Input is too long for requested model.'],
  [
    'input length and `max_tokens` exceed context limit: 187254 + 20000 > 204798, decrease',
    undefined,
    204798,
  ],
  [
    "This model's maximum context length is 8191 tokens, however you requested 10346 tokens (10346 in your prompt; 5 for the completion).",
    10346,
    8191,
  ],
  [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. Please reduce the length of the messages.",
    8545,
    8192,
  ],
  [
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (8000 of text input).",
    40000,
    32768,
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
    undefined,
    4096,
  ],
  ['Your input exceeds the context window of this model. Please adjust your input.'],
  [
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    1200000,
    1048576,
  ],
  [
    'The input token count exceeds the maximum number of tokens allowed 1048576.',
    undefined,
    1048576,
  ],
  [
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    537812,
    131072,
  ],
  [
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    40000,
    32768,
  ],
  ['request (5000 tokens) exceeds the available context size (4096 tokens), try', 5000, 4096],
  ['the request exceeds the available context size. try increasing the context size'],
  [
    'Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)',
    140000,
    131072,
  ],
  ['The decoder prompt (length 5000) is longer than the maximum model length of 4096.', 5000, 4096],
  ["The input (5000 tokens) is longer than the model's context length (4096 tokens).", 5000, 4096],
  [
    'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192',
    9000,
    8192,
  ],
  ['prompt token count of 70000 exceeds the limit of 64000', 70000, 64000],
  ['prompt too long; exceeded max context length by 4 tokens'],
])('%s', (...row) => {
  const [message, ...counts] = row
  const { tokens, limit } = contextOverflow([], message) ?? {}
  expect([tokens, limit]).toEqual([counts[0], counts[1]])
})

test('codes say it without words, and other refusals do not say it', () => {
  expect(contextOverflow(['400', 'exceed_context_size_error'], 'no')).toEqual({})
  for (const message of [
    'Too many tokens, please wait before trying again.',
    'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.',
    'max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens',
    'Invalid maximum value of context',
  ]) {
    expect(contextOverflow(['invalid_request_error', undefined], message)).toBeUndefined()
  }
})
