import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { type JsonObject, Secret } from 'model-gateway/plugin'
import { json, providerCall, setUpProvider, startUpstream } from 'model-gateway/testing'
import plugin from './index.ts'

const upstream = await startUpstream()
const bench = await setUpProvider({
  plugin,
  type: 'cloud_b_ml',
  config: {
    region: 'us-east-1',
    endpoint_url: new URL(upstream.url).origin,
    auth: {
      mode: 'static',
      access_key_id: new Secret('AKIDEXAMPLE'),
      secret_access_key: new Secret('secret'),
      session_token: new Secret('c2Vzc2lvbi1jYW5hcnk='),
    },
  },
})
beforeEach(() => upstream.clear())
afterAll(async () => {
  await bench.dispose()
  await upstream.stop()
})

function ask(api_style = 'runtime_unified', stream = false) {
  const route = bench.bind({ compatibility: { cloud_b_ml: { api_style } } })
  const body = {
    model: 'asked',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'hi' }],
    ...(stream ? { stream } : {}),
  }
  return route.execute.chat_completions?.(providerCall(body)).catch((error) => error)
}

describe('an error of the service', () => {
  const typed = (type: string) => ({ 'x-amzn-errortype': `${type}:http://internal.amazon.com/` })

  test.each<[number, string, number]>([
    [400, 'ValidationException', 400],
    [400, 'ServiceQuotaExceededException', 400],
    [403, 'AccessDeniedException', 502],
    [403, 'UnrecognizedClientException', 502],
    [404, 'ResourceNotFoundException', 404],
    [408, 'ModelTimeoutException', 408],
    [424, 'ModelErrorException', 424],
    [429, 'ThrottlingException', 429],
    [429, 'ModelNotReadyException', 429],
    [500, 'InternalServerException', 500],
    [503, 'ServiceUnavailableException', 503],
    [529, 'OverloadedException', 529],
  ])('%i %s', async (status, type, expected) => {
    for (const [body, message] of [
      [{ message: 'No.' }, 'No.'],
      [{ Message: 'No.' }, 'No.'],
      [{}, type],
    ] as [JsonObject, string][]) {
      upstream.script(json(body, status, typed(type)))
      expect(await ask()).toMatchObject({
        code: 'upstream_http_error',
        status: expected,
        message,
        details: { upstream_status: status },
        upstream: { code: type },
      })
    }
  })

  test('of the edge service, in the formats of its APIs', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    upstream.always(json({ type: 'error', error, request_id: 'req_1' }, 529))
    for (const stream of [false, true]) {
      expect(await ask('edge_native_messages', stream)).toMatchObject({
        code: 'upstream_http_error',
        status: 529,
        upstream: { type: 'overloaded_error' },
        message: 'Overloaded',
      })
    }
  })

  test('that repeats the credentials does not pass them on', async () => {
    const message = 'The canonical request was x-amz-security-token:c2Vzc2lvbi1jYW5hcnk= …'
    upstream.always(json({ message }, 403, typed('InvalidSignatureException')))
    const error = await ask()
    expect(error).toMatchObject({ status: 502 })
    expect(error.message).not.toContain('c2Vzc2lvbi1jYW5hcnk')
  })

  test('with status 200 is an error too', async () => {
    upstream.always(json({ type: 'error', error: { type: 'api_error', message: 'odd' } }))
    expect(await ask('runtime_native_invoke')).toMatchObject({ status: 502, message: 'odd' })
  })
})

test.each<[string, JsonObject]>([
  ['runtime_unified', {}],
  ['runtime_unified', { content: 'text' }],
  ['runtime_native_invoke', { content: 'text' }],
])('%s: a reply like %j is malformed', async (style, reply) => {
  upstream.always(json(reply))
  expect(await ask(style)).toMatchObject({ code: 'upstream_transport', status: 502 })
})
