import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import {
  chatCompletion,
  chatFrames,
  json,
  type Reply,
  responseFrames,
  responseObject,
  sse,
  startUpstream,
  type Upstream,
} from '../../harness/upstream.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.always(callsTwice)
  const routes = [{ provider: 'up', upstream_model: 'u' }]
  gateway = await startTestGateway({
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: ['guarded', 'watched', 'free'].map((id) => ({ id, routes })),
    guardrails: {
      default: { enabled: true, mode: 'deny', packs: ['core.shell'] },
      model_routes: { 'watched/up/u': { mode: 'audit' }, 'free/up/u': { enabled: false } },
    },
  })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

/** A call whose arguments are `{"city":"Oslo","city":"Rome"}`. */
const callsTwice: Reply = (x) => {
  const request = x.call.body as JsonObject
  const twice = (text: string) => text.replaceAll('Oslo', 'Oslo\\",\\"city\\":\\"Rome')
  const isChat = x.call.path.includes('chat')
  if (request.stream === true) {
    return sse((isChat ? chatFrames(request) : responseFrames(request)).map(twice))(x)
  }
  const reply = isChat ? chatCompletion(request) : responseObject(request)
  return json(JSON.parse(twice(JSON.stringify(reply))) as JsonObject)(x)
}

const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const messages = [{ role: 'user', content: 'weather?' }]
const surfaces = {
  '/v1/chat/completions': {
    messages,
    tools: [{ type: 'function', function: { name: 'weather', parameters } }],
  },
  '/v1/messages': {
    max_tokens: 50,
    messages,
    tools: [{ name: 'weather', input_schema: parameters }],
  },
  '/v1/responses': {
    input: 'weather?',
    tools: [{ type: 'function', name: 'weather', parameters }],
  },
}
const modes = Object.entries(surfaces).flatMap(([path, body]) =>
  [false, true].map((stream) => ({ path, as: stream ? 'streamed' : 'buffered', body, stream })),
)

describe.each(modes)(
  'a tool call with an argument twice, by $path, $as',
  ({ path, body, stream }) => {
    async function ask(model: string) {
      const response = await gateway.post(path, { ...body, model, stream })
      const id = response.headers.get('x-request-id') ?? ''
      return { status: response.status, text: await response.text(), id }
    }
    const decisionsOf = (id: string) => gateway.sql`
    select scope, action, reason_code from guardrails.guardrail_decisions where request_id = ${id}`

    test('is denied', async () => {
      const { status, text } = await ask('guarded')
      expect(status).toBe(403)
      expect(text).toContain('without duplicate keys')
      expect(text).not.toMatch(/Oslo|Rome/)
    })

    test('is recorded in audit mode, and none of it changed', async () => {
      const { status, text, id } = await ask('watched')
      expect(status).toBe(200)
      expect(text).toContain('Rome')
      const [decision] = await eventually(async () => {
        const found = await decisionsOf(id)
        return found.length === 0 ? undefined : found
      })
      expect(decision).toEqual({
        scope: 'model_route:watched/up/u',
        action: 'audit',
        reason_code: 'tool_call.malformed_arguments',
      })
    })

    test('passes where no guard is on', async () => {
      const { status, text } = await ask('free')
      expect(status).toBe(200)
      expect(text).toContain('Rome')
    })
  },
)
