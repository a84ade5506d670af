/** Sound and pictures: forms that stream, sound that comes as it is made, and what they cost. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI, { type APIError, toFile } from 'openai'
import {
  ada,
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../../harness/gateway.ts'

const wordCheck = new URL('../../../plugins/guardrails/__fixtures__/word-check.ts', import.meta.url)
const bobKey = testKey('bob')
const bob = {
  name: 'Bob',
  email: 'bob@example.com',
  api_keys: [{ name: 'test', value: `literal.${bobKey}`, models: ['ear'] }],
  budget: { cadence: 'daily', amount_usd: '0.000001' },
}
const MAX_BODY = 24_000_000
const sse = (...events: object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const EVENTS = { 'content-type': 'text/event-stream' }
const sound = Buffer.from(Array.from({ length: 3_000 }, (_, i) => i % 251))

/** One second of silence: https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html */
function wav(seconds: number): Buffer {
  const data = 8_000 * seconds
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + data, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt32LE(8_000, 28)
  head.write('data', 36)
  head.writeUInt32LE(data, 40)
  return Buffer.concat([head, Buffer.alloc(data)])
}

/** What reached the upstream last. */
interface Seen {
  path: string
  fields: Record<string, string[]>
  files: Record<string, { name: string; type: string; size: number }[]>
  json: Record<string, unknown>
}
let seen: Seen | undefined
let upstream: ReturnType<typeof Bun.serve>
let gateway: TestGateway

// https://platform.openai.com/docs/api-reference/audio, .../images
const tokenUsage = {
  type: 'tokens',
  input_tokens: 14,
  input_token_details: { text_tokens: 0, audio_tokens: 14 },
  output_tokens: 45,
  total_tokens: 59,
}
const verbose = {
  ...{ task: 'transcribe', language: 'english', duration: 8.470000267028809, text: 'Hi there.' },
  segments: [{ id: 0, start: 0, end: 8, text: 'Hi there.', tokens: [1, 2], temperature: 0 }],
}
const speechUsage = { input_tokens: 9, output_tokens: 101, total_tokens: 110 }

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  const type = request.headers.get('content-type') ?? ''
  const got: Seen = { path: pathname, fields: {}, files: {}, json: {} }
  if (type.startsWith('multipart/')) {
    for (const [name, value] of await request.formData()) {
      if (typeof value === 'string') got.fields[name] = [...(got.fields[name] ?? []), value]
      else {
        const file = { name: value.name, type: value.type, size: value.size }
        got.files[name] = [...(got.files[name] ?? []), file]
      }
    }
  } else got.json = (await request.json()) as Record<string, unknown>
  seen = got
  const model = String(got.fields.model ?? got.json.model)
  if (model === 'broken') {
    return Response.json({ error: { message: 'Invalid file format.', code: 'x' } }, { status: 400 })
  }
  if (pathname === '/v1/audio/speech') {
    if (got.json.stream_format === 'sse') {
      const delta = { type: 'speech.audio.delta', audio: sound.toString('base64') }
      return new Response(sse(delta, { type: 'speech.audio.done', usage: speechUsage }), {
        headers: EVENTS,
      })
    }
    return new Response(sound, { headers: { 'content-type': 'audio/opus' } })
  }
  if (pathname.startsWith('/v1/images')) {
    const usage = { input_tokens: 50, output_tokens: 60, total_tokens: 110 }
    return Response.json({ created: 1, data: [{ b64_json: 'aWNl' }], usage })
  }
  if (got.fields.stream?.[0] === 'true') {
    const delta = { type: 'transcript.text.delta', delta: 'Hi there.' }
    const done = { type: 'transcript.text.done', text: 'Hi there.', usage: tokenUsage }
    return new Response(sse(delta, done), { headers: EVENTS })
  }
  const format = got.fields.response_format?.[0] ?? 'json'
  if (format === 'verbose_json') return Response.json(verbose)
  if (format !== 'json') return new Response('1\n00:00:00,000 --> 00:00:08,000\nHi there.\n')
  const said = got.fields.prompt?.[0] ?? 'Hi there.'
  return Response.json({ text: said, ...(model === 'ear' && { usage: tokenUsage }) })
}

beforeAll(async () => {
  upstream = Bun.serve({ port: 0, fetch: answer, maxRequestBodySize: 64_000_000 })
  const price = (model: string, rates: object) => ({ pricing_provider_id: 'test', model, ...rates })
  const spoken = { input_usd_per_million: '0.6', output_audio_usd_per_million: '12' }
  const names = ['ear', 'whisper', 'tts', 'gpt-4o-mini-tts', 'painter', 'broken', 'guarded']
  gateway = await startTestGateway({
    users: [ada, bob],
    server: { max_body_bytes: MAX_BODY },
    plugins: [{ use: 'builtin:*' }, { use: wordCheck.pathname }],
    providers: [
      {
        ...{ id: 'up', type: 'generic_compat', pricing_provider_id: 'test' },
        base_url: `http://127.0.0.1:${upstream.port}/v1`,
      },
    ],
    models: names.map((id) => ({
      id,
      routes: [{ provider: 'up', upstream_model: id === 'guarded' ? 'ear' : id }],
    })),
    guardrails: {
      managed_checks: {
        texts: {
          ...{ kind: 'words', phases: ['prompt', 'model_response'] },
          word_list: { denied_word: 'FORBIDDEN' },
        },
      },
      model_routes: {
        'guarded/up/ear': { enabled: true, mode: 'deny', managed_checks: ['texts'] },
      },
    },
    pricing: {
      overrides: [
        price('ear', { input_audio_usd_per_million: '6', output_usd_per_million: '10' }),
        price('whisper', { audio_second_usd_per_thousand: '0.1' }),
        price('tts', { character_usd_per_thousand: '0.015', ...spoken }),
        price('gpt-4o-mini-tts', spoken),
        price('painter', { input_usd_per_million: '5', output_image_usd_per_million: '40' }),
      ],
    },
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop(true)
})

const client = (apiKey = adaKey, requestId: string = crypto.randomUUID()) => {
  const defaultHeaders = { 'x-request-id': requestId }
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0, defaultHeaders })
}
const file = (bytes: Uint8Array = wav(3), name = 'a.wav') =>
  toFile(bytes, name, { type: 'audio/wav' })

/** The one summary of a call, with its ledger row and what was logged of it. */
async function written(id: string) {
  return await eventually(async () => {
    const rows = await gateway.sql`
      select r.operation, r.outcome, c.pricing_status, c.line_items, c.completion_tokens::int as output,
        p.request_json, p.response_json
      from request_log.request_logs r
      left join accounting.usage_cost_events c on c.request_id = r.request_id
      left join request_log.request_log_payloads p on p.request_log_id = r.id
      where r.request_id = ${id}`
    if (rows.length > 0) expect(rows).toHaveLength(1)
    return rows[0]
  })
}

const text = async (stream: unknown) =>
  (
    await Array.fromAsync(stream as AsyncIterable<{ type: string; delta?: string; text?: string }>)
  ).map(({ type, delta, text }) => `${type} ${delta ?? text ?? ''}`.trim())

interface Call {
  readonly operation: string
  readonly call: (client: OpenAI) => Promise<unknown>
  readonly reply: unknown
  /** What is charged, by units. */
  readonly units: Readonly<Record<string, number>>
  readonly sent: object
}

const calls: readonly Call[] = [
  {
    operation: 'audio.transcriptions',
    call: async (client) =>
      await client.audio.transcriptions.create({
        ...{ model: 'ear', file: await file(), language: 'en', temperature: 0.2 },
        timestamp_granularities: ['word', 'segment'],
      }),
    reply: { text: 'Hi there.', usage: tokenUsage },
    units: { input_audio: 14, output: 45 },
    sent: {
      path: '/v1/audio/transcriptions',
      fields: {
        ...{ model: ['ear'], language: ['en'], temperature: ['0.2'] },
        'timestamp_granularities[]': ['word', 'segment'],
      },
      files: { file: [{ name: 'a.wav', size: wav(3).length }] },
    },
  },
  {
    operation: 'audio.transcriptions',
    call: async (client) => {
      const stream = { model: 'ear', file: await file(), stream: true as const }
      return await text(await client.audio.transcriptions.create(stream))
    },
    reply: ['transcript.text.delta Hi there.', 'transcript.text.done Hi there.'],
    units: { input_audio: 14, output: 45 },
    sent: { fields: { model: ['ear'], stream: ['true'] } },
  },
  {
    operation: 'audio.transcriptions',
    call: async (client) =>
      await client.audio.transcriptions.create({
        ...{ model: 'whisper', file: await file(), response_format: 'verbose_json' },
      }),
    reply: verbose,
    units: { audio_second: 9 },
    sent: { fields: { model: ['whisper'], response_format: ['verbose_json'] } },
  },
  {
    operation: 'audio.translations',
    call: async (client) =>
      await client.audio.translations.create({
        ...{ model: 'whisper', file: await file(), response_format: 'srt' },
      }),
    reply: '1\n00:00:00,000 --> 00:00:08,000\nHi there.\n',
    units: { audio_second: 3 },
    sent: {
      path: '/v1/audio/translations',
      fields: { model: ['whisper'], response_format: ['srt'] },
    },
  },
  {
    operation: 'audio.speech',
    call: async (client) => {
      const reply = await client.audio.speech.create({
        ...{ model: 'tts', input: 'größer 海', voice: 'alloy', response_format: 'opus' },
      })
      const type = reply.headers.get('content-type')
      return [type, Buffer.compare(Buffer.from(await reply.arrayBuffer()), sound)]
    },
    reply: ['audio/opus', 0],
    units: { character: 8 },
    sent: {
      path: '/v1/audio/speech',
      json: { model: 'tts', input: 'größer 海', voice: 'alloy', response_format: 'opus' },
    },
  },
  {
    operation: 'audio.speech',
    call: async (client) => {
      const say = { model: 'gpt-4o-mini-tts', input: 'hello', voice: 'alloy' }
      const reply = await client.audio.speech.create({ ...say, response_format: 'wav' })
      const type = reply.headers.get('content-type')
      return [type, Buffer.compare(Buffer.from(await reply.arrayBuffer()), sound)]
    },
    reply: ['audio/wav', 0],
    units: { input: 9, output_audio: 101 },
    sent: { json: { model: 'gpt-4o-mini-tts', stream_format: 'sse' } },
  },
  {
    operation: 'audio.speech',
    call: async (client) => {
      const say = { model: 'tts', input: 'hello', voice: 'alloy', stream_format: 'sse' as const }
      const reply = await client.audio.speech.create(say)
      return (await reply.text()).match(/"type":"[\w.]+"/g)
    },
    reply: ['"type":"speech.audio.delta"', '"type":"speech.audio.done"'],
    units: { input: 9, output_audio: 101 },
    sent: { json: { model: 'tts', stream_format: 'sse' } },
  },
  {
    operation: 'images.edits',
    call: async (client) =>
      await client.images.edit({
        ...{ model: 'painter', prompt: 'a river', n: 1, mask: await file(wav(1), 'm.png') },
        image: [await file(wav(1), 'a.png'), await file(wav(2), 'b.png')],
      }),
    reply: { created: 1, data: [{ b64_json: 'aWNl' }] },
    units: { input: 50, output_image: 60 },
    sent: {
      path: '/v1/images/edits',
      fields: { model: ['painter'], prompt: ['a river'], n: ['1'] },
      files: { 'image[]': [{ name: 'a.png' }, { name: 'b.png' }], mask: [{ name: 'm.png' }] },
    },
  },
]

test.each(calls)('$operation: %#', async ({ operation, call, reply, units, sent }) => {
  const id = crypto.randomUUID()
  const got = await call(client(adaKey, id))
  if (typeof reply === 'string') expect(got).toBe(reply)
  else expect(got).toMatchObject(reply as object)
  expect(seen).toMatchObject(sent)
  const row = await written(id)
  expect(row).toMatchObject({ operation, outcome: 'success', pricing_status: 'priced' })
  const items: readonly [unit: string, quantity: number][] = row.line_items
  expect(Object.fromEntries(items.map(([unit, quantity]) => [unit, quantity]))).toEqual(units)
  const logged = JSON.stringify([row.request_json, row.response_json])
  // Names and sizes, and neither sound nor pictures.
  expect(logged.length).toBeLessThan(3_000)
  if (operation !== 'audio.speech') expect(logged).toContain('"bytes":')
})

const failed = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable(),
    (error: APIError) => ({ status: error.status, code: error.code, message: error.message }),
  )
const hear = async (model: string, key = adaKey, more: object = {}) =>
  await client(key).audio.transcriptions.create({ model, file: await file(), ...more })
const raw = (path: string, body: string | FormData, headers = {}) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaKey}`, ...headers },
    body,
  })
const form = (fields: Record<string, string | Blob>) => {
  const made = new FormData()
  for (const [name, value] of Object.entries(fields)) made.append(name, value)
  return made
}

type Refused = [name: string, body: () => string | FormData, headers: object, number, RegExp]

describe('a call is refused', () => {
  test('by grant, guard, budget and provider, for the same reasons as all', async () => {
    expect(await failed(hear('whisper', bobKey))).toMatchObject({ code: 'model_not_granted' })
    const denied = { status: 403, code: 'guardrail_denied' }
    seen = undefined
    expect(await failed(hear('guarded', adaKey, { prompt: 'FORBIDDEN' }))).toMatchObject(denied)
    expect(seen).toBeUndefined()
    const say = { model: 'guarded', voice: 'alloy', input: 'say FORBIDDEN' }
    expect(await failed(client().audio.speech.create(say))).toMatchObject(denied)
    const edit = { model: 'guarded', prompt: 'FORBIDDEN', image: await file() }
    expect(await failed(client().images.edit(edit))).toMatchObject(denied)
    await hear('ear', bobKey)
    expect(await failed(hear('ear', bobKey))).toMatchObject({ code: 'budget_exceeded' })
    expect(await failed(hear('broken'))).toMatchObject({ status: 400, code: 'x' })
  })

  test.each([
    [
      'without a file',
      () => form({ model: 'ear' }),
      {},
      400,
      /^multipart with no file: field `file` is missing/,
    ],
    [
      'with a text for it',
      () => form({ model: 'ear', file: 'x' }),
      {},
      400,
      /field `file` is missing/,
    ],
    ['without a model', () => form({ file: new Blob(['x']) }), {}, 400, /^model must/],
    ['as JSON', () => '{"model":"ear","file":"x"}', {}, 400, /^file must be one file/],
    [
      'without a boundary',
      () => 'x',
      { 'content-type': 'multipart/form-data' },
      400,
      /^content-type: /,
    ],
    [
      'that is cut short',
      () => '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nab',
      { 'content-type': 'multipart/form-data; boundary=b' },
      400,
      /^the form cannot be read: /,
    ],
    [
      'packed',
      () => form({ model: 'ear', file: new Blob(['x']) }),
      { 'content-encoding': 'gzip' },
      415,
      /^content-encoding: /,
    ],
  ] as Refused[])('%s', async (_, body, headers, status, message) => {
    const reply = await raw('/v1/audio/transcriptions', body(), headers)
    const { error } = (await reply.json()) as { error: { message: string } }
    expect([reply.status, error.message]).toEqual([status, expect.stringMatching(message)])
  })

  test('with a picture that is too large, by its stated and by its real size', async () => {
    const large = new Uint8Array(30_000_000)
    const stated = await raw(
      '/v1/images/edits',
      form({ model: 'painter', image: new Blob([large]) }),
    )
    const stream = new ReadableStream({
      start(controller) {
        const head = '--b\r\ncontent-disposition: form-data; name="image"; filename="a"\r\n\r\n'
        controller.enqueue(new TextEncoder().encode(head))
        for (let i = 0; i < 30; i++) controller.enqueue(large.subarray(0, 1_000_000))
        controller.close()
      },
    })
    const type = { 'content-type': 'multipart/form-data; boundary=b' }
    const counted = await raw('/v1/images/edits', stream as never, type)
    for (const reply of [stated, counted]) {
      const { error } = (await reply.json()) as { error: { message: string } }
      expect([reply.status, error.message]).toEqual([
        413,
        `the request body is larger than ${MAX_BODY} bytes (server.max_body_bytes)`,
      ])
    }
  })
})
