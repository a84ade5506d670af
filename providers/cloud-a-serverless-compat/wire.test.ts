/** Calls of a Cloud Run service that checks its ID tokens, as the real one does. */
import { afterAll, afterEach, beforeEach, describe, expect, setSystemTime, test } from 'bun:test'
import { ConfigError, type JsonObject, Secret } from 'model-gateway/plugin'
import { collectEvents, providerCall, setUpProvider } from 'model-gateway/testing'
import { startGoogleCloud } from '../../test/harness/upstream-clouds-google.ts'
import plugin from './index.ts'

const cloud = startGoogleCloud()
const START = Date.parse('2026-09-24T08:00:00Z')
const completion = { id: 'c', object: 'chat.completion', model: 'm', choices: [] }
const frames =
  'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
beforeEach(() => {
  cloud.clear()
  cloud.answer = ({ body }) =>
    body.stream === true
      ? new Response(frames, { headers: { 'content-type': 'text/event-stream' } })
      : Response.json(completion)
  setSystemTime(START)
})
afterEach(() => {
  setSystemTime()
})
afterAll(() => cloud.stop())

/** A provider of the service; `run` makes one call of it. */
async function service(config: JsonObject = {}, headers: Record<string, string> = {}) {
  const bench = await setUpProvider({
    plugin,
    type: 'cloud_a_serverless_compat',
    config: {
      base_url: `${cloud.url}/v1/`,
      audience: cloud.url,
      auth: { mode: 'service_account', credentials_file: cloud.serviceAccountFile() },
      ...config,
    },
    settings: { pricingProviderId: 'own', defaultHeaders: headers },
  })
  return {
    bench,
    async run(body: JsonObject, family: string = 'chat_completions', route = {}) {
      const execute = bench.bind(route).execute[family]
      if (execute === undefined) throw new Error(`no ${family}`)
      return execute(providerCall({ model: 'asked', ...body }))
    },
  }
}
const chat = { messages: [{ role: 'user', content: 'hi' }] }

describe('a call', () => {
  test('each family has its path, with an ID token for the audience', async () => {
    const { run } = await service()
    await run(chat)
    await run({ input: 'x' }, 'responses')
    await run({ input: 'x' }, 'embeddings')
    expect(cloud.calls.map(({ path }) => path)).toEqual([
      '/v1/chat/completions',
      '/v1/responses',
      '/v1/embeddings',
    ])
    expect(cloud.calls.map(({ body }) => body.model)).toEqual(Array(3).fill('upstream-model'))
    expect(cloud.issued).toEqual(['service_account'])
  })

  test('streams, profiles and extra_body as of any compatible API', async () => {
    const { run } = await service()
    const route = {
      compatibility: { generic_compat: { supports_stream_usage: true, supports_store: false } },
      extraBody: { guided_json: { a: 1 } },
    }
    const result = await run({ ...chat, stream: true, store: true }, 'chat_completions', route)
    expect(await collectEvents(result)).toHaveLength(2)
    expect(cloud.calls[0]?.body).toEqual({
      ...chat,
      model: 'upstream-model',
      stream: true,
      stream_options: { include_usage: true },
      guided_json: { a: 1 },
    })
  })

  test('auth_header: authorization replaces a configured one', async () => {
    const { run } = await service({}, { Authorization: 'Bearer app' })
    await run(chat)
    expect(cloud.calls[0]?.headers.get('authorization')).toStartWith('Bearer ey')
    expect(cloud.calls[0]?.headers.get('x-serverless-authorization')).toBeNull()
  })

  test('auth_header: x_serverless_authorization leaves the application its own', async () => {
    const auth_header = 'x_serverless_authorization'
    await (await service({ auth_header }, { Authorization: 'Bearer app' })).run(chat)
    await (await service({ auth_header })).run(chat)
    const seen = cloud.calls.map(({ headers }) => headers.get('authorization'))
    expect(seen).toEqual(['Bearer app', null])
    for (const { headers } of cloud.calls) {
      expect(headers.get('x-serverless-authorization')).toStartWith('Bearer ey')
    }
  })

  test('its price is looked up where the config says', async () => {
    const { bench } = await service()
    expect(bench.bind().pricing).toEqual({ pricingProviderId: 'own', model: 'upstream-model' })
  })
})

describe('tokens', () => {
  const claims = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as JsonObject

  test('the audience is the origin of the service, unless it is stated', async () => {
    const seen: unknown[] = []
    for (const audience of [undefined, 'https://custom.example']) {
      const bench = await setUpProvider({
        plugin,
        type: 'cloud_a_serverless_compat',
        config: {
          base_url: 'https://svc-uc.a.run.app/v1',
          auth: { mode: 'service_account', credentials_file: cloud.serviceAccountFile() },
          ...(audience === undefined ? {} : { audience }),
        },
      })
      // The service itself is out of reach; the token has been asked for by then.
      await bench
        .bind()
        .execute.chat_completions?.(providerCall({ model: 'asked', ...chat }))
        .catch(() => {})
      seen.push(claims(cloud.tokens.at(-1) ?? '').aud)
    }
    expect(seen).toEqual(['https://svc-uc.a.run.app', 'https://custom.example'])
  })

  test('one for many calls at once; a new one before it ends', async () => {
    const { run } = await service()
    await Promise.all(Array.from({ length: 50 }, () => run(chat)))
    expect(cloud.issued).toHaveLength(1)
    setSystemTime(START + 3_400_000)
    await Promise.all(Array.from({ length: 50 }, () => run(chat)))
    setSystemTime(START + 3_700_000)
    await run(chat)
    expect(cloud.issued).toHaveLength(2)
    expect(cloud.calls).toHaveLength(101)
  })

  test('one that the service refuses is dropped: 502 once, then a new one', async () => {
    const { run } = await service()
    await run(chat)
    cloud.revoke()
    const error = await run(chat).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'upstream_http_error',
      status: 502,
      details: { upstream_status: 401 },
    })
    await run(chat)
    expect(cloud.issued).toHaveLength(2)
  })

  test('adc, by the environment of the process', async () => {
    const { env } = process
    const names = ['CLOUDSDK_CONFIG', 'GCE_METADATA_HOST', 'GOOGLE_APPLICATION_CREDENTIALS']
    const saved = names.map((name) => [name, env[name]] as const)
    delete env.GOOGLE_APPLICATION_CREDENTIALS
    Object.assign(env, { CLOUDSDK_CONFIG: cloud.folder, GCE_METADATA_HOST: cloud.host })
    try {
      await (await service({ auth: { mode: 'adc' } })).run(chat)
      env.GOOGLE_APPLICATION_CREDENTIALS = cloud.authorizedUserFile()
      const error = await (await service({ auth: { mode: 'adc' } }))
        .run(chat)
        .catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'upstream_transport', status: 502 })
      expect((error as Error).message).toContain('ID tokens need a service account')
    } finally {
      for (const [name, value] of saved) {
        if (value === undefined) delete env[name]
        else env[name] = value
      }
    }
    expect(cloud.issued).toEqual(['metadata'])
  })

  test('bearer: as it is', async () => {
    const token = new Secret('canary-4711')
    const { run } = await service({ auth: { mode: 'bearer', token } as never })
    const error = await run(chat).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ status: 502 })
    expect((error as Error).message).not.toContain('canary-4711')
    expect(cloud.issued).toEqual([])
  })

  test('an unusable credentials file prevents the start', async () => {
    const auth = { mode: 'service_account', credentials_file: cloud.authorizedUserFile() }
    expect(await service({ auth }).catch((reason: unknown) => reason)).toBeInstanceOf(ConfigError)
  })
})
