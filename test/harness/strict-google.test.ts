/** The upstream of the tests refuses what the real one refuses, and nothing else. */
import { expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { strictRefusal } from './strict-clouds.ts'

const user = { role: 'user', parts: [{ text: 'hi' }] }
const model = { role: 'model', parts: [{ text: 'Well' }] }
const call = (more: JsonObject = {}) => ({ functionCall: { name: 'f', args: {} }, ...more })
const response = (more: JsonObject = {}) => ({
  functionResponse: { name: 'f', response: {}, ...more },
})
const turns = (...contents: JsonObject[]) => ({ contents })
const signed = { thoughtSignature: 'c2ln' }
const steps = (first: JsonObject, second: JsonObject) =>
  turns(
    user,
    { role: 'model', parts: [first, call()] },
    { role: 'user', parts: [response(), response()] },
    { role: 'model', parts: [second] },
    { role: 'user', parts: [response()] },
  )
const declared = (...names: string[]) => ({
  contents: [user],
  tools: [{ functionDeclarations: names.map((name) => ({ name })) }],
})

function refusal(body: JsonObject, id = 'gemini-3.5-flash') {
  return strictRefusal(`/v1/publishers/google/models/${id}:generateContent`, body)
}

test.each([
  ['a question', turns(user)],
  ['snake case', { ...turns(user), generation_config: { top_p: 1 }, tool_config: {} }],
  ['steps that are signed', steps(call(signed), call(signed))],
  ['an unsigned call before the user spoke', turns(...steps(call(), call()).contents, user)],
  ['a signature alone', turns(user, { role: 'model', parts: [{ text: '', ...signed }] }, user)],
  ['tools', declared('f', '_g.h-1')],
] as [string, JsonObject][])('takes %s', (_, body) => {
  expect(refusal(body)).toBeUndefined()
})

test('an older model checks no signatures and goes on with its own words', () => {
  expect(refusal(steps(call(), call()), 'gemini-2.5-pro')).toBeUndefined()
  expect(refusal(turns(user, model), 'gemini-2.5-pro')).toBeUndefined()
})

test.each([
  ['store', { ...turns(user), store: true }, 'Unknown name "store": Cannot find field.'],
  [
    'an id of a call',
    turns(user, { role: 'model', parts: [{ functionCall: { id: 'a', name: 'f', args: {} } }] }),
    `Unknown name "id" at 'contents[1].parts[0].function_call': Cannot find field.`,
  ],
  ['no contents', turns(), 'at least one contents field'],
  ['no parts', turns({ role: 'user', parts: [] }), 'at least one parts field'],
  ['an empty text', turns({ role: 'user', parts: [{ text: '' }] }), 'an empty text parameter'],
  ['another role', turns({ role: 'tool', parts: [{ text: 'a' }] }), 'a valid role'],
  ['a long seed', { ...turns(user), generationConfig: { seed: 2 ** 31 } }, 'TYPE_INT32'],
  ['a name with a space', declared('a b'), 'Invalid function name'],
  ['a name that begins with a digit', declared('1a'), 'Invalid function name'],
  ['a long name', declared('a'.repeat(65)), 'Invalid function name'],
  ['a name twice', declared('f', 'f'), 'Duplicate function declaration'],
  ['an unsigned first step', steps(call(), call(signed)), 'missing a thought_signature'],
  ['an unsigned second step', steps(call(signed), call()), 'missing a thought_signature'],
  ['a signature in no bytes', steps(call({ thoughtSignature: 'a b' }), call()), 'TYPE_BYTES'],
  [
    'too few results',
    turns(
      user,
      { role: 'model', parts: [call(signed), call()] },
      { role: 'user', parts: [response()] },
    ),
    'the number of function response parts',
  ],
  ['a result without a call', turns({ role: 'user', parts: [response()] }), 'the number of'],
  [
    'a result beside a text',
    turns(
      user,
      { role: 'model', parts: [call(signed)] },
      { role: 'user', parts: [response(), { text: 'a' }] },
    ),
    'shares its content',
  ],
  [
    'a call after the model spoke',
    turns(user, model, { role: 'model', parts: [call(signed)] }),
    'immediately after a user turn',
  ],
  ['a call at the end', turns(user, { role: 'model', parts: [call(signed)] }), 'immediately after'],
  ['the model at the end', turns(user, model), 'ending with a model turn'],
  [
    'a result that is a list',
    turns(
      user,
      { role: 'model', parts: [call(signed)] },
      { role: 'user', parts: [response({ response: [] })] },
    ),
    '(Struct)',
  ],
  [
    'a file of no type',
    turns({ role: 'user', parts: [{ fileData: { fileUri: 'gs://a' } }] }),
    'mimeType',
  ],
] as [string, JsonObject, string][])('refuses %s', (_, body, words) => {
  expect(refusal(body)).toMatchObject({
    status: 400,
    json: { error: { status: 'INVALID_ARGUMENT', message: expect.stringContaining(words) } },
  })
})
