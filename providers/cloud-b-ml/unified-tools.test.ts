/** Tools that the service wants to know of, under names that it takes. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { providerCall } from 'model-gateway/testing'
import type { StreamEvent } from 'model-gateway/wire'
import { converseFrames, converseReply } from '../../test/harness/upstream-clouds-aws.ts'
import { decodeEventStream } from '../_shared/event-stream.ts'
import { foldChat } from '../_shared/fold-chat.fixture.ts'
import { chatFromUnified } from './unified-reply.ts'
import { unifiedRequest } from './unified-request.ts'
import { chatChunksFromUnified } from './unified-stream.ts'

const LONG = 'mcp__plugin_tracker_tracker__createComponentRelationshipForCurrentItem'

const user = { role: 'user', content: 'Go.' }
const called = (name: string, id = 'a') => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
})
const result = (tool_call_id = 'a') => ({ role: 'tool', tool_call_id, content: 'Done.' })
const offered = (name: string) => ({ type: 'function', function: { name } })
const open = (name: string) => ({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } })

function send(fields: JsonObject) {
  const route = { upstreamModel: 'amazon.nova-pro-v1:0', extraBody: {} }
  return unifiedRequest(route, providerCall({ model: 'asked', messages: [user], ...fields }))
}

describe('a history with tools is sent with tools', () => {
  const history = [user, called('weather'), result()]
  test.each<[string, JsonObject]>([
    ['no tools', {}],
    ['an empty list', { tools: [] }],
    ['null', { tools: null }],
    ['no tools and tool_choice none', { tool_choice: 'none' }],
    ['no tools and tool_choice auto', { tools: [], tool_choice: 'auto' }],
  ])('the call offers %s', (_, fields) => {
    const { toolConfig } = send({ messages: history, ...fields }).body
    expect(toolConfig).toEqual({ tools: [open('weather')] })
  })

  test('each tool once, in the order of the calls', () => {
    const messages = [
      ...history,
      called('now', 'b'),
      result('b'),
      called('weather', 'c'),
      result('c'),
    ]
    expect(send({ messages }).body.toolConfig).toEqual({ tools: [open('weather'), open('now')] })
  })

  test('the offered tools, if any', () => {
    const { toolConfig } = send({
      messages: history,
      tools: [offered('now')],
      tool_choice: 'none',
    }).body
    expect(toolConfig).toMatchObject({ tools: [{ toolSpec: { name: 'now' } }] })
  })

  test('results without a call', () => {
    const { body } = send({ messages: [result(), user] })
    expect(body.toolConfig).toEqual({ tools: [open('unknown_tool')] })
  })

  test('no history, no tools', () => {
    expect(send({ tools: [offered('f')], tool_choice: 'none' }).body).not.toHaveProperty(
      'toolConfig',
    )
    expect(send({}).body).not.toHaveProperty('toolConfig')
  })
})

describe('invalid names', () => {
  test('are shortened in tools, choice and history alike', () => {
    const { body } = send({
      tools: [offered(LONG), offered('fs.read')],
      tool_choice: offered(LONG),
      messages: [user, called(LONG), result()],
    })
    const text = JSON.stringify(body)
    const [sent] = /mcp__[\w-]*/.exec(text) ?? []
    expect(sent).toHaveLength(64)
    expect(text.split(`"${sent}"`)).toHaveLength(4)
    expect(text).toMatch(/"fs_read_[0-9a-f]{12}"/)
  })

  const reply = (name: string) => ({
    blocks: [{ kind: 'tool' as const, id: 't1', name, pieces: ['{"a":1}'] }],
    stopReason: 'tool_use',
    usage: {},
  })
  const calledWith = (name: string) => [
    { id: 't1', type: 'function', function: { name, arguments: '{"a":1}' } },
  ]

  test.each([LONG, 'fs.read', 'weather'])(
    'are known again in replies and streams: %s',
    async (name) => {
      const { names } = send({ tools: [offered(name)] })
      const facts = { id: 'c', model: 'up', names }
      const call = { surface: 'chat_completions', body: { model: 'asked' }, requestId: 'r' }
      const said = reply(names.sent(name))

      const { choices } = chatFromUnified(converseReply(said), call, facts)
      const message = (choices as JsonObject[])[0]?.message as JsonObject
      expect(message.tool_calls).toEqual(calledWith(name))

      async function* bytes() {
        yield* converseFrames(said)
      }
      const seams = { unknownEvent() {}, redact: (text: string) => text }
      const chunks: StreamEvent[] = []
      const frames = decodeEventStream(bytes(), () => {})
      for await (const batch of chatChunksFromUnified(frames, call, facts, seams))
        chunks.push(...batch)
      expect(foldChat(chunks).toolCalls as JsonValue).toEqual(calledWith(name))
    },
  )
})

test('a schema that Nova refuses at its top, its definitions put in where they are meant', () => {
  const city = { type: 'object', properties: { name: { type: 'string' } } }
  const node = { type: 'object', properties: { next: { $ref: '#/definitions/node' } } }
  const parameters = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    title: 'Args',
    additionalProperties: false,
    properties: {
      city: { $ref: '#/$defs/city', description: 'Where' },
      cities: { type: 'array', items: { $ref: '#/$defs/city' } },
      list: { $ref: '#/definitions/node' },
      other: { $ref: 'https://x.test/schema' },
    },
    required: ['city'],
    $defs: { city },
    definitions: { node },
  }
  const tools = [{ type: 'function', function: { name: 'f', parameters } }]
  const schemaFor = (upstreamModel: string) => {
    const call = providerCall({ model: 'asked', messages: [user], tools })
    const { toolConfig } = unifiedRequest({ upstreamModel, extraBody: {} }, call).body
    const { tools: sent } = toolConfig as { tools: { toolSpec: { inputSchema: JsonObject } }[] }
    return (sent[0]?.toolSpec.inputSchema.json ?? {}) as JsonObject
  }
  const { properties, ...rest } = schemaFor('us.amazon.nova-lite-v1:0')
  expect(rest).toEqual({ type: 'object', required: ['city'] })
  expect(properties).toMatchObject({
    city: { ...city, description: 'Where' },
    cities: { type: 'array', items: city },
    list: { properties: { next: { properties: { next: { type: 'object' } } } } },
    other: { $ref: 'https://x.test/schema' },
  })
  expect(JSON.stringify(properties)).not.toContain('definitions')
  expect(schemaFor('us.anthropic.claude-sonnet-4-6')).toEqual(parameters)
})

test('a schema of Nova whose definitions name themselves many times stays small', () => {
  const names = Array.from({ length: 50 }, (_, i) => `p${i}`)
  const node = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { $ref: '#/$defs/node' }])),
  }
  const parameters = { ...node, $defs: { node } }
  const tools = [{ type: 'function', function: { name: 'f', parameters } }]
  const { toolConfig } = send({ tools }).body
  expect(JSON.stringify(toolConfig).length).toBeLessThan(2_000_000)
})
