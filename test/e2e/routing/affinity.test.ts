import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

/** Two accounts of one vendor, each of which knows only the responses that it has made. */
function startAccount(name: string) {
  let made = 0
  const known = new Set<string>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = (await request.json()) as JsonObject
      if (request.url.endsWith('/chat/completions')) {
        const message = { role: 'assistant', content: name }
        return Response.json({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
      }
      const previous = body.previous_response_id
      if (typeof previous === 'string' && previous.startsWith('resp_') && !known.has(previous)) {
        return Response.json({ error: { message: 'no such response' } }, { status: 404 })
      }
      const id = `resp_${name}_${++made}`
      known.add(id)
      const item = {
        type: 'message',
        id: `msg_${id}`,
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: name, annotations: [] }],
      }
      const response = { id, object: 'response', status: 'completed', model: 'm', output: [item] }
      if (body.stream !== true) return Response.json(response)
      const data = JSON.stringify({ type: 'response.completed', sequence_number: 0, response })
      return new Response(`event: response.completed\ndata: ${data}\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      })
    },
  })
  return { name, server }
}

const accounts = ['east', 'west'].map(startAccount)
let gateway: TestGateway
const provider = ({ name, server }: (typeof accounts)[number]) => ({
  id: name,
  type: 'generic_compat',
  base_url: `http://127.0.0.1:${server.port}/v1`,
})
const config = (names: readonly string[]) => ({
  providers: accounts.map(provider),
  models: [
    { id: 'both', routes: names.map((name) => ({ provider: name, upstream_model: 'm' })) },
    {
      id: 'preferred',
      routes: names.map((name, priority) => ({ provider: name, upstream_model: 'm', priority })),
    },
  ],
})

beforeAll(async () => {
  gateway = await startTestGateway(config(['east', 'west']))
})
afterAll(async () => {
  await gateway?.stop()
  for (const { server } of accounts) await server.stop(true)
})

interface Answer {
  readonly status: number
  readonly id: string
  readonly by: string
  readonly message: string
}

async function respond(body: JsonObject, on = gateway): Promise<Answer> {
  const reply = await on.post('/v1/responses', { model: 'both', input: 'hi', ...body } as never)
  const text = await reply.text()
  return {
    status: reply.status,
    id: /"(resp_\w+)"/.exec(text)?.[1] ?? '',
    by: /resp_(east|west)_/.exec(text)?.[1] ?? '',
    message: text,
  }
}

async function chat(messages: readonly JsonObject[], more: JsonObject = {}): Promise<string> {
  const body = { model: 'both', messages, ...more }
  const reply = await gateway.post('/v1/chat/completions', body as never)
  const { choices } = (await reply.json()) as { choices: { message: { content: string } }[] }
  return choices[0]?.message.content ?? ''
}

const times = async <T>(n: number, act: (i: number) => Promise<T>) =>
  await Promise.all(Array.from({ length: n }, (_, i) => act(i)))

test('a response goes on where it was made, buffered and streamed', async () => {
  const conversations = await times(20, async (i) => {
    let last = await respond({ stream: i % 2 === 0 })
    const first = last.by
    for (let turn = 0; turn < 3; turn++) {
      last = await respond({ previous_response_id: last.id, stream: turn % 2 === 0 })
      expect([last.status, last.by]).toEqual([200, first])
    }
    return first
  })
  expect(new Set(conversations)).toEqual(new Set(['east', 'west']))
})

test('an id that nobody has noted leads all calls to one route', async () => {
  for (const kept of [{ previous_response_id: 'kept_1' }, { conversation: { id: 'conv_9' } }]) {
    const answers = await times(20, () => respond(kept))
    expect(new Set(answers.map(({ by }) => by)).size).toBe(1)
  }
})

test('a conversation stays on the route of its first turn, and first turns go by weight', async () => {
  const routes = await times(30, async (i) => {
    const messages: JsonObject[] = [{ role: 'user', content: `conversation ${i}` }]
    const first = await chat(messages)
    for (let turn = 0; turn < 3; turn++) {
      messages.push({ role: 'assistant', content: 'yes' }, { role: 'user', content: 'go on' })
      expect(await chat(messages)).toBe(first)
    }
    return first
  })
  expect(new Set(routes)).toEqual(new Set(['east', 'west']))
  const alike = await times(60, () => chat([{ role: 'user', content: 'all alike' }]))
  expect(new Set(alike)).toEqual(new Set(['east', 'west']))
  const keyed = await times(20, (i) =>
    chat([{ role: 'user', content: `${i}` }], { prompt_cache_key: 'one' }),
  )
  expect(new Set(keyed).size).toBe(1)
})

test('a conversation does not hold on to a route of a lower priority', async () => {
  const first = await chat([{ role: 'user', content: 'x' }], { model: 'preferred' })
  expect(first).toBe('east')
})

test('other replicas know it, too, and say when the provider is gone', async () => {
  const noted = await gateway.sql`select count(*)::int as rows from affinity.places`
  const first = await respond({})
  const other = first.by === 'east' ? 'west' : 'east'
  await eventually(async () => {
    const [now] = await gateway.sql`select count(*)::int as rows from affinity.places`
    return now?.rows > noted[0]?.rows ? now : undefined
  })
  let replica = await startTestGateway(config(['east', 'west']), {
    databaseUrl: gateway.databaseUrl,
  })
  try {
    const answers = await times(10, () => respond({ previous_response_id: first.id }, replica))
    expect(answers.map(({ status, by }) => [status, by])).toEqual(
      answers.map(() => [200, first.by]),
    )
  } finally {
    await replica.stop()
  }
  replica = await startTestGateway(
    {
      ...config(['east', 'west']),
      models: [
        {
          id: 'both',
          routes: ['a', 'b'].map((model) => ({ provider: other, upstream_model: model })),
        },
      ],
    },
    { databaseUrl: gateway.databaseUrl },
  )
  try {
    const gone = await respond({ previous_response_id: first.id }, replica)
    expect(gone.status).toBe(400)
    expect(gone.message).toContain(`previous_response_id: refers to state of the provider`)
  } finally {
    await replica.stop()
  }
})
