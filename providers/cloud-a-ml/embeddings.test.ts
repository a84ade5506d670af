import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { GatewayError, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { RouteSpec } from 'model-gateway/provider'
import type { ApiCall } from '../../test/harness/upstream-clouds-google.ts'
import { bodyOf, lastBody, startVertex } from './testing.ts'

const vertex = await startVertex()
const { cloud } = vertex
const PREDICT = ['gemini-embedding-001', 'text-embedding-005', 'text-multilingual-embedding-002']
const CONTENT = 'gemini-embedding-2'
const BATCHED = 'text-embedding-005'
beforeEach(() => {
  cloud.clear()
  cloud.answer = (call) => Response.json(answerTo(call))
})
afterAll(vertex.stop)

/** Texts are numbers; each vector begins with its own, and counts one token. */
function answerTo({ path, body }: ApiCall): JsonObject {
  if (path.endsWith(':embedContent')) {
    const { parts } = body.content as { parts: { text: string }[] }
    return {
      embedding: { values: [Number(parts[0]?.text), 0.5] },
      usageMetadata: { promptTokenCount: 1, totalTokenCount: 99 },
      truncated: false,
    }
  }
  return { predictions: (body.instances as JsonObject[]).map(({ content }) => prediction(content)) }
}

function prediction(content: JsonValue | undefined, tokens: JsonValue = 1): JsonObject {
  const statistics = { token_count: tokens, truncated: false }
  return { embeddings: { values: [Number(content), 0.5], statistics } }
}

function embed(model: string, fields: JsonObject, route: Partial<RouteSpec> = {}) {
  return vertex.run(`google/${model}`, { input: '7', ...fields }, route, 'embeddings')
}
const numbers = (count: number) => Array.from({ length: count }, (_, i) => String(i))

async function refusal(model: string, fields: JsonObject): Promise<string> {
  const error = await failure(embed(model, fields))
  expect([error.code, error.status]).toEqual(['invalid_request', 400])
  expect(cloud.calls).toEqual([])
  return error.message
}

async function failure(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof GatewayError)) throw new Error('no GatewayError')
  return error
}

describe('requests', () => {
  const base = '/v1/projects/demo-project/locations/global/publishers/google/models'
  test.each(PREDICT)('%s: predict', async (model) => {
    await embed(model, {
      dimensions: 256,
      task_type: 'RETRIEVAL_DOCUMENT',
      title: 'Rivers',
      auto_truncate: false,
      encoding_format: 'float',
      user: 'me',
    })
    expect(cloud.calls[0]?.path).toBe(`${base}/${model}:predict`)
    expect(lastBody(cloud)).toEqual({
      instances: [{ content: '7', task_type: 'RETRIEVAL_DOCUMENT', title: 'Rivers' }],
      parameters: { outputDimensionality: 256, autoTruncate: false },
    })
  })

  test(`${CONTENT}: embedContent`, async () => {
    await embed(CONTENT, { outputDimensionality: 768 })
    expect(cloud.calls[0]?.path).toBe(`${base}/${CONTENT}:embedContent`)
    expect(lastBody(cloud)).toEqual({
      content: { parts: [{ text: '7' }] },
      embedContentConfig: { outputDimensionality: 768 },
    })
  })

  test('sends no other members', async () => {
    await embed(BATCHED, { dimensions: null, title: null, logit_bias: null })
    expect(lastBody(cloud)).toEqual({ instances: [{ content: '7' }] })
    await embed(CONTENT, {})
    expect(lastBody(cloud)).toEqual({ content: { parts: [{ text: '7' }] } })
  })

  test('extra_body is merged into each call', async () => {
    const extraBody = { parameters: { autoTruncate: true } }
    await embed('gemini-embedding-001', { input: ['1', '2'], dimensions: 8 }, { extraBody })
    expect(cloud.calls.map(({ body }) => body.parameters)).toEqual([
      { outputDimensionality: 8, autoTruncate: true },
      { outputDimensionality: 8, autoTruncate: true },
    ])
  })

  test('price modifiers are reported', async () => {
    const extraHeaders = { 'X-Vertex-AI-LLM-Shared-Request-Type': 'flex' }
    const [plain, header] = [await embed(BATCHED, {}), await embed(BATCHED, {}, { extraHeaders })]
    expect([plain, header].map(({ billingModifiers }) => billingModifiers)).toEqual([
      [],
      ['x-vertex-ai-llm-shared-request-type'],
    ])
  })

  test.each([
    ['query', 'RETRIEVAL_QUERY'],
    [' Document ', 'RETRIEVAL_DOCUMENT'],
    ['retrieval-query', 'RETRIEVAL_QUERY'],
    ['semantic similarity', 'SEMANTIC_SIMILARITY'],
    ['CLASSIFICATION', 'CLASSIFICATION'],
    ['clustering', 'CLUSTERING'],
    ['question_answering', 'QUESTION_ANSWERING'],
    ['fact-verification', 'FACT_VERIFICATION'],
    ['code retrieval query', 'CODE_RETRIEVAL_QUERY'],
  ])('task type %p is %s, under either name', async (written, taskType) => {
    for (const fields of [
      { task_type: written },
      { input_type: written },
      { task_type: written, input_type: taskType },
    ]) {
      await embed(BATCHED, fields)
      expect(lastBody(cloud).instances).toEqual([{ content: '7', task_type: taskType }])
    }
  })

  test.each([
    ['dimensions', 'outputDimensionality', 3],
    ['output_dimensionality', 'outputDimensionality', 3],
    ['outputDimensionality', 'outputDimensionality', 3],
    ['auto_truncate', 'autoTruncate', true],
    ['autoTruncate', 'autoTruncate', false],
  ])('%s is %s', async (name, parameter, value) => {
    await embed(BATCHED, { [name]: value })
    expect(lastBody(cloud).parameters).toEqual({ [parameter]: value })
  })
})

describe('refused before any call', () => {
  test.each([
    [[1, 2, 3], 'input.0 must be a string'],
    [[[1, 2]], 'input.0 must be a string'],
    [['a', null], 'input.1 must be a string'],
    [['a', { type: 'image', data: 'x' }], 'input.1 must be a string'],
    [[], 'input must not be empty'],
    ['', 'input must not be empty'],
    [['a', ''], 'input.1 must not be empty'],
    [{ content: 'a' }, 'input must be a string or a list'],
    [7, 'input must be a string or a list'],
    [null, 'input must be a string or a list'],
  ] as [JsonValue, string][])('input %j', async (input, message) => {
    for (const model of [BATCHED, CONTENT]) {
      expect(await refusal(model, { input })).toStartWith(message)
    }
  })

  test.each([
    [{ dimensions: 0 }, 'dimensions must be an integer from 1 to 768'],
    [{ dimensions: 769 }, 'dimensions must be'],
    [{ dimensions: 1.5 }, 'dimensions must be'],
    [{ output_dimensionality: '256' }, 'output_dimensionality must be'],
    [{ dimensions: 2, outputDimensionality: 3 }, 'dimensions and outputDimensionality'],
    [{ output_dimensionality: 2, outputDimensionality: 3 }, 'output_dimensionality and output'],
    [{ encoding_format: 'base64' }, 'encoding_format'],
    [{ encoding_format: 'int8' }, 'encoding_format'],
    [{ task_type: 'POETRY' }, 'task_type must be one of'],
    [{ input_type: 7 }, 'input_type must be one of'],
    [{ task_type: 'query', input_type: 'document' }, 'task_type and input_type'],
    [{ title: 'x' }, 'title is only possible'],
    [{ title: 'x', task_type: 'query' }, 'title is only possible'],
    [{ title: ' ', task_type: 'document' }, 'title must be a non-empty string'],
    [{ title: 5, task_type: 'document' }, 'title must be a non-empty string'],
    [{ auto_truncate: 'yes' }, 'auto_truncate must be true or false'],
    [{ auto_truncate: true, autoTruncate: false }, 'auto_truncate and autoTruncate'],
    [{ temperature: 1 }, 'temperature is not supported'],
    [{ modality: 'image' }, 'modality is not supported'],
  ] as [JsonObject, string][])('predict: %j', async (fields, message) => {
    expect(await refusal(BATCHED, fields)).toStartWith(message)
  })

  test.each([
    [{ task_type: 'query' }, 'task_type is not supported by this model'],
    [{ input_type: 'query' }, 'input_type is not supported by this model'],
    [{ title: 'x' }, 'title is not supported by this model'],
    [{ auto_truncate: true }, 'auto_truncate is not supported by this model'],
    [{ autoTruncate: false }, 'autoTruncate is not supported by this model'],
    [{ dimensions: 3073 }, 'dimensions must be an integer from 1 to 3072'],
    [{ encoding_format: 'base64' }, 'encoding_format'],
    [{ foo: 1 }, 'foo is not supported'],
  ] as [JsonObject, string][])('embedContent: %j', async (fields, message) => {
    expect(await refusal(CONTENT, fields)).toStartWith(message)
  })

  const encode = { compatibility: { cloud_a_ml: { base64: 'encode' } } }
  const setting = 'compatibility.cloud_a_ml.base64: encode'
  test.each([BATCHED, CONTENT])('%s: base64, where its route does not encode', async (model) => {
    expect(await refusal(model, { encoding_format: 'base64' })).toContain(setting)
    expect(await refusal(model, { encoding_format: 'int8' })).not.toContain(setting)
  })

  test.each([
    ['base64', 'AADgQAAAAD8='],
    ['float', [7, 0.5]],
    [null, [7, 0.5]],
  ])('encoding_format %p, where its route encodes', async (encoding_format, embedding) => {
    for (const model of [BATCHED, CONTENT]) {
      const result = await embed(model, { encoding_format } as JsonObject, encode)
      expect(result).toMatchObject({ body: { data: [{ index: 0, embedding }] } })
    }
    const odd = await failure(embed(BATCHED, { encoding_format: 'int8' }, encode))
    expect(odd.message).toBe('encoding_format must be float or base64')
  })

  test('the greatest dimensions that a model has are possible', async () => {
    for (const [model, dimensions] of [
      ['gemini-embedding-001', 3072],
      ['text-embedding-005', 768],
      ['text-multilingual-embedding-002', 768],
      [CONTENT, 3072],
    ] as const) {
      await embed(model, { dimensions })
      expect(await refusalWithout(model, dimensions + 1)).toContain(`from 1 to ${dimensions}`)
    }
  })
  async function refusalWithout(model: string, dimensions: number): Promise<string> {
    cloud.clear()
    cloud.answer = (call) => Response.json(answerTo(call))
    return refusal(model, { dimensions })
  }
})

describe('what comes back', () => {
  test('one text is one embedding', async () => {
    for (const model of [...PREDICT, CONTENT]) {
      expect(bodyOf(await embed(model, {}))).toEqual({
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [7, 0.5] }],
        model: 'asked',
        usage: { prompt_tokens: 1, total_tokens: 1 },
      })
    }
  })

  test.each([
    ['text-embedding-005', 501, [250, 250, 1]],
    ['text-multilingual-embedding-002', 250, [250]],
    ['gemini-embedding-001', 20, Array.from({ length: 20 }, () => 1)],
  ] as [string, number, number[]][])('%s: %i texts in calls of %j', async (model, count, sizes) => {
    const { data, usage } = bodyOf(await embed(model, { input: numbers(count) }))
    const called = cloud.calls.map(({ body }) => (body.instances as JsonValue[]).length)
    expect(called.sort((a, b) => b - a)).toEqual(sizes)
    expect(data).toEqual(
      numbers(count).map((text, index) => ({
        object: 'embedding',
        index,
        embedding: [Number(text), 0.5],
      })),
    )
    expect(usage).toEqual({ prompt_tokens: count, total_tokens: count })
  })

  test('in order, although the calls run side by side and end in any order; at most eight', async () => {
    let running = 0
    let most = 0
    cloud.answer = async (call) => {
      most = Math.max(most, ++running)
      await Bun.sleep(Math.random() * 8)
      running--
      return Response.json(answerTo(call))
    }
    const { data } = bodyOf(await embed(CONTENT, { input: numbers(40) }))
    expect((data as JsonObject[]).map(({ embedding }) => (embedding as number[])[0])).toEqual(
      numbers(40).map(Number),
    )
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(8)
  })

  test.each([
    ['no statistics', { embeddings: { values: [1] } }],
    ['no count', { embeddings: { values: [1], statistics: {} } }],
    ['an invalid count', prediction('1', '5')],
    ['a negative count', prediction('1', -1)],
  ] as [string, JsonObject][])('usage is left out when one text has none: %s', async (_, odd) => {
    cloud.answer = () => Response.json({ predictions: [prediction('1'), odd] })
    const body = bodyOf(await embed(BATCHED, { input: ['1', '1'] }))
    expect(body.data).toHaveLength(2)
    expect(body).not.toHaveProperty('usage')
  })

  test('zero tokens are a count', async () => {
    cloud.answer = () => Response.json({ predictions: [prediction('1', 0)] })
    expect(bodyOf(await embed(BATCHED, {})).usage).toEqual({ prompt_tokens: 0, total_tokens: 0 })
  })

  test.each([
    ['nothing', {}],
    ['too few', { predictions: [] }],
    ['too many', { predictions: [prediction('1'), prediction('2')] }],
    ['no vector', { predictions: [{ embeddings: {} }] }],
    ['an empty vector', { predictions: [{ embeddings: { values: [] } }] }],
    ['words', { predictions: [{ embeddings: { values: ['a'] } }] }],
    ['a list of numbers', { predictions: [1] }],
  ] as [string, JsonObject][])('an invalid reply: %s', async (_, reply) => {
    cloud.answer = () => Response.json(reply)
    expect(await failure(embed(BATCHED, {}))).toMatchObject({
      code: 'upstream_transport',
      status: 502,
    })
  })
})

describe('when one call of several fails', () => {
  const denied = () =>
    Response.json(
      { error: { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED' } },
      { status: 429, headers: { 'retry-after': '9' } },
    )
  const isFor = ({ body }: ApiCall, text: string) =>
    JSON.stringify(body.content).includes(`"${text}"`)

  test('the request fails with its error, no more are started, what was counted is charged', async () => {
    cloud.answer = async (call) => {
      if (isFor(call, '2')) return denied()
      // Those that run already end after the failure, and are charged all the same.
      await Bun.sleep(15)
      return Response.json(answerTo(call))
    }
    const error = await failure(embed(CONTENT, { input: numbers(100) }))
    expect(error).toMatchObject({ code: 'upstream_http_error', status: 429, message: 'Quota' })
    expect(cloud.calls).toHaveLength(8)
    expect(error.usage).toEqual({
      uncachedInput: 7,
      cacheRead: undefined,
      cacheWrite: undefined,
      output: undefined,
      reasoning: undefined,
      promptTokens: 7,
      totalTokens: 7,
    })
    expect(error.billingModifiers).toEqual([])
  })

  test('what was counted is charged at no other price than that of a request that succeeds', async () => {
    cloud.answer = (call) => (isFor(call, '2') ? denied() : Response.json(answerTo(call)))
    const extraHeaders = { 'x-vertex-ai-llm-request-type': 'shared' }
    const error = await failure(embed(CONTENT, { input: numbers(3) }, { extraHeaders }))
    expect(error.usage).toMatchObject({ promptTokens: 2 })
    expect(error.billingModifiers).toEqual(['x-vertex-ai-llm-request-type'])
  })

  test('nothing is charged when nothing was finished, or not all of it was counted', async () => {
    cloud.answer = denied
    expect((await failure(embed(CONTENT, { input: numbers(3) }))).usage).toBeUndefined()
    cloud.answer = (call) =>
      isFor(call, '2')
        ? denied()
        : Response.json({
            ...answerTo(call),
            usageMetadata: isFor(call, '1') ? {} : { promptTokenCount: 1 },
          })
    expect((await failure(embed(CONTENT, { input: numbers(3) }))).usage).toBeUndefined()
  })
})
