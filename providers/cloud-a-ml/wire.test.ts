/** What goes out on the wire to models of Google, and what becomes of tokens on the way. */
import { afterAll, afterEach, beforeEach, describe, expect, setSystemTime, test } from 'bun:test'
import { ConfigError, type JsonObject, Secret } from 'model-gateway/plugin'
import { collectEvents } from 'model-gateway/testing'
import { foldChat, gistOf } from '../_shared/fold-chat.fixture.ts'
import { bodyOf, eventStream, lastBody, startVertex } from './testing.ts'

const vertex = await startVertex({}, { 'X-Default': 'provider', Authorization: 'Bearer wrong' })
const { cloud, run } = vertex
const folder = `${import.meta.dir}/../_shared/__fixtures__`
const reply: JsonObject = await Bun.file(`${folder}/google-text.json`).json()
const sse = await Bun.file(`${folder}/google-text.sse`).bytes()

const messages = [{ role: 'user', content: 'Where do rivers run?' }]
const MODEL = 'google/gemini-2.5-flash'
const START = Date.parse('2026-09-24T08:00:00Z')
beforeEach(() => {
  cloud.clear()
  cloud.answer = ({ path }) => (path.endsWith('alt=sse') ? eventStream(sse) : Response.json(reply))
  setSystemTime(START)
})
afterEach(() => {
  setSystemTime()
})
afterAll(vertex.stop)

describe('a call', () => {
  test('buffered: generateContent with a body that Google knows', async () => {
    const result = await run(MODEL, { messages, temperature: 0.2, user: 'me' })
    const [call] = cloud.calls
    expect([call?.method, call?.path]).toEqual([
      'POST',
      '/v1/projects/demo-project/locations/global/publishers/google/models/gemini-2.5-flash:generateContent',
    ])
    expect(call?.body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Where do rivers run?' }] }],
      generationConfig: { temperature: 0.2 },
    })
    expect(bodyOf(result)).toMatchObject({ id: 'id-text-1', usage: { total_tokens: 143 } })
  })

  test('streamed: streamGenerateContent as server-sent events, the same reply', async () => {
    const result = await run(MODEL, { messages, stream: true })
    const events = await collectEvents(result)
    expect(cloud.calls[0]?.path).toEndWith('/gemini-2.5-flash:streamGenerateContent?alt=sse')
    expect(cloud.calls[0]?.headers.get('accept')).toBe('text/event-stream')
    expect(foldChat(events)).toEqual(gistOf(bodyOf(await run(MODEL, { messages }))))
  })

  test('streamed as an array all the same', async () => {
    const lines = new TextDecoder().decode(sse).split('\r\n\r\n').filter(Boolean)
    const array = `[${lines.map((line) => line.slice(6)).join('\n,\r\n')}]`
    cloud.answer = () =>
      new Response(array, { headers: { 'content-type': 'application/json; charset=UTF-8' } })
    const events = await collectEvents(await run(MODEL, { messages, stream: true }))
    expect(foldChat(events).finishReason).toBe('stop')
  })

  test('an invalid reply is charged at the same price as a valid one', async () => {
    cloud.answer = () => Response.json({ usageMetadata: { promptTokenCount: 9 } })
    const extraHeaders = { 'x-vertex-ai-llm-request-type': 'shared' }
    const extraBody = { serviceTier: 'flex' }
    const error = await failure(run(MODEL, { messages }, { extraHeaders, extraBody }))
    expect(error).toMatchObject({
      usage: { promptTokens: 9 },
      billingModifiers: ['service_tier'],
    })
  })

  test('headers: default, route, request id, trace; the token is the last word', async () => {
    await run(MODEL, { messages }, { extraHeaders: { 'x-route': 'r', authorization: 'Bearer no' } })
    const headers = cloud.calls[0]?.headers
    expect(headers?.get('x-default')).toBe('provider')
    expect(headers?.get('x-route')).toBe('r')
    expect(headers?.get('x-request-id')).toBe('bench-request')
    expect(headers?.get('traceparent')).toStartWith('00-')
    expect(headers?.get('authorization')).toStartWith('Bearer ya29.service_account')
  })

  test('extra_body is the last word, object by object', async () => {
    const extraBody = {
      generationConfig: { topK: 5, thinkingConfig: { includeThoughts: false } },
      labels: { team: 'b' },
      contents: [{ role: 'user', parts: [{ text: 'Other' }] }],
    }
    await run(MODEL, { messages, temperature: 1, labels: { a: 'b' } }, { extraBody })
    expect(lastBody(cloud)).toEqual({
      contents: extraBody.contents,
      generationConfig: { temperature: 1, topK: 5, thinkingConfig: { includeThoughts: false } },
      labels: { a: 'b', team: 'b' },
    })
  })

  test('nothing is sent when the call is refused here', async () => {
    const error = await failure(run(MODEL, { messages, stream: true, n: 2 }))
    expect(error).toMatchObject({ code: 'invalid_request', status: 400 })
    expect(cloud.calls).toEqual([])
  })

  test('what changes the price is said', async () => {
    const plain = await run(MODEL, { messages, service_tier: 'flex' })
    const body = await run(MODEL, { messages }, { extraBody: { serviceTier: 'flex' } })
    // The service knows its members under both spellings.
    const snake = await run(MODEL, { messages }, { extraBody: { service_tier: 'flex' } })
    const header = await run(
      MODEL,
      { messages },
      { extraHeaders: { 'X-Vertex-AI-LLM-Shared-Request-Type': 'flex' } },
    )
    expect([plain, body, snake, header].map(({ billingModifiers }) => billingModifiers)).toEqual([
      [],
      ['service_tier'],
      ['service_tier'],
      ['service_tier'],
    ])
  })
})

describe('replies that are not what was asked for', () => {
  test.each([
    [
      'an error',
      () => Response.json({ error: { code: 400, message: 'Bad field' } }, { status: 400 }),
      400,
    ],
    [
      'an error in an array',
      () => Response.json([{ error: { code: 429, message: 'Bad field' } }], { status: 429 }),
      429,
    ],
    ['no access', () => Response.json({ error: { message: 'Bad field' } }, { status: 403 }), 502],
  ])('%s', async (_, answer, status) => {
    cloud.answer = answer
    for (const stream of [false, true]) {
      const error = await failure(run(MODEL, { messages, stream }))
      expect(error).toMatchObject({ code: 'upstream_http_error', status, message: 'Bad field' })
    }
  })

  test.each([
    ['a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['an empty reply', () => Response.json({})],
    ['a redirect', () => new Response('', { status: 302, headers: { location: '/elsewhere' } })],
  ])('%s', async (_, answer) => {
    cloud.answer = answer
    for (const stream of [false, true]) {
      const drained = run(MODEL, { messages, stream }).then((result): unknown =>
        result.kind === 'stream' ? collectEvents(result) : result,
      )
      expect(await failure(drained)).toMatchObject({ status: 502 })
    }
    expect(cloud.calls.some(({ path }) => path === '/elsewhere')).toBe(false)
  })
})

describe('tokens', () => {
  test('one for many calls at once, and a new one before it ends', async () => {
    cloud.revoke()
    await failure(run(MODEL, { messages }))
    cloud.clear()
    cloud.answer = () => Response.json(reply)
    await Promise.all(Array.from({ length: 50 }, () => run(MODEL, { messages })))
    expect(cloud.issued).toHaveLength(1)
    setSystemTime(START + 3_400_000)
    await Promise.all(Array.from({ length: 50 }, () => run(MODEL, { messages })))
    expect(cloud.issued).toHaveLength(2)
    setSystemTime(START + 3_700_000)
    await run(MODEL, { messages })
    expect(cloud.issued).toHaveLength(2)
  })

  test('one that the API refuses is dropped: 502 once, not repeated, then a new one', async () => {
    await run(MODEL, { messages })
    cloud.revoke()
    cloud.clear()
    cloud.answer = () => Response.json(reply)
    const error = await failure(run(MODEL, { messages }))
    expect(error).toMatchObject({ code: 'upstream_http_error', status: 502 })
    expect(error).toMatchObject({ details: { upstream_status: 401 } })
    expect(cloud.issued).toEqual([])
    await run(MODEL, { messages })
    expect(cloud.issued).toEqual(['service_account'])
  })

  test('none to be had is 502', async () => {
    cloud.revoke()
    await failure(run(MODEL, { messages }))
    cloud.fault = () => new Response('', { status: 500 })
    const error = await failure(run(MODEL, { messages }))
    expect(error).toMatchObject({ code: 'upstream_transport', status: 502 })
    expect(cloud.calls).toEqual([])
  })

  test('adc, by the environment of the process', async () => {
    const { env } = process
    const saved = { ...env }
    delete env.GOOGLE_APPLICATION_CREDENTIALS
    Object.assign(env, { CLOUDSDK_CONFIG: cloud.folder, GCE_METADATA_HOST: cloud.host })
    const own = await startVertex({ api_host: cloud.url, auth: { mode: 'adc' } })
    try {
      await own.run(MODEL, { messages })
      expect(cloud.issued).toEqual(['metadata'])
    } finally {
      for (const name of [
        'CLOUDSDK_CONFIG',
        'GCE_METADATA_HOST',
        'GOOGLE_APPLICATION_CREDENTIALS',
      ]) {
        if (saved[name] === undefined) delete env[name]
        else env[name] = saved[name]
      }
      await own.stop()
    }
  })

  test('bearer: as it is, and never shown', async () => {
    const token = new Secret('canary-4711')
    const own = await startVertex({ auth: { mode: 'bearer', token } as never })
    const error = await failure(own.run(MODEL, { messages }))
    expect(error).toMatchObject({ status: 502 })
    expect(JSON.stringify(error)).not.toContain('canary-4711')
    await own.stop()
  })

  test('an unusable credentials file prevents the start', async () => {
    const auth = { mode: 'service_account', credentials_file: '/missing.json' }
    expect(await failure(startVertex({ auth }))).toBeInstanceOf(ConfigError)
  })
})

async function failure(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof Error)) throw new Error('it did not fail')
  return error
}
