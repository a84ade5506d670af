import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../plugin/errors.ts'
import type { JsonObject } from '../plugin/json.ts'
import { readChatReply, readEmbeddingsReply, readResponsesReply, replyText } from './reply.ts'

describe('a buffered reply', () => {
  test('of a chat', () => {
    const calls = [{ id: 'a' }, { id: 'b' }]
    const body = {
      choices: [{ message: { tool_calls: calls } }, { message: { content: 'x' } }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    }
    expect(readChatReply(body)).toMatchObject({
      invokedToolCount: 2,
      usage: { uncachedInput: 1, output: 2 },
    })
  })

  test('of a response counts its tool calls', () => {
    const output = [{ type: 'function_call' }, { type: 'message' }, { type: 'web_search_call' }]
    expect(readResponsesReply({ output })).toEqual({ usage: undefined, invokedToolCount: 2 })
  })

  test('of a failed response includes the reason', () => {
    const failed = (error?: JsonObject) =>
      readResponsesReply({ status: 'failed', output: [], ...(error && { error }) })
    expect(failed({ code: 'server_error', message: 'boom sk-0123456789abcdef' })).toEqual({
      usage: undefined,
      invokedToolCount: 0,
      failure: { code: 'server_error', message: 'boom [redacted]', forwarded: true },
    })
    expect(readResponsesReply({ status: 'cancelled', output: [] }).failure?.code).toBe(
      'response_cancelled',
    )
    expect(readResponsesReply({ status: 'incomplete', output: [] }).failure).toBeUndefined()
    expect(failed({ code: 7 }).failure?.code).toBe('7')
    expect(failed().failure?.code).toBe('upstream_transport')
  })

  test('of embeddings has no tool dimension', () => {
    expect(readEmbeddingsReply({ data: [] }).invokedToolCount).toBeUndefined()
  })

  test('of another shape is an upstream fault that keeps the usage it states', () => {
    const wrong = { usage: { prompt_tokens: 1, completion_tokens: 2 } }
    expect(() => readChatReply(wrong)).toThrow(GatewayError)
    try {
      readChatReply(wrong)
    } catch (error) {
      expect(error).toMatchObject({ code: 'upstream_transport', usage: { output: 2 } })
    }
    expect(() => readResponsesReply({ choices: [] })).toThrow(GatewayError)
    expect(() => readResponsesReply({})).toThrow(GatewayError)
    expect(readResponsesReply({ id: 'r', status: 'queued' })).toMatchObject({
      invokedToolCount: 0,
    })
    expect(() => readEmbeddingsReply({})).toThrow(GatewayError)
    expect(() => readEmbeddingsReply([])).toThrow(GatewayError)
  })
})

test('only the model of a reply changes', () => {
  const raw = '{"id":"x", "n":12345678901234567890,"model":"up"}'
  const body = JSON.parse(raw) as JsonObject
  expect(replyText(body, raw, 'mine')).toBe(raw.replace('"up"', '"mine"'))
  expect(replyText({ ...body, model: 'mine' }, raw.replace('up', 'mine'), 'mine')).toBe(
    raw.replace('up', 'mine'),
  )
  expect(JSON.parse(replyText({ id: 'x' }, undefined, 'mine'))).toEqual({ id: 'x', model: 'mine' })
})

test('a response with only an error is not a response', () => {
  const body = { error: { message: 'no' } }
  expect(() => readResponsesReply(body)).toThrow('it is an error: no')
})
