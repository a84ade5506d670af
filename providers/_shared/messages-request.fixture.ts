import { expect } from 'bun:test'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import type { MessagesDialect } from './messages-dialect.ts'
import { messagesRequest } from './messages-request.ts'

export const messages: JsonValue[] = [{ role: 'user', content: 'hi' }]
export const PNG = 'data:image/png;base64,aWNvbg=='

export const tool = {
  type: 'function',
  function: { name: 'weather', description: 'Now', parameters: { type: 'object' } },
}

/** What a small chat call with these fields becomes. */
export function send(
  dialect: MessagesDialect,
  fields: JsonObject,
  more: {
    stream?: boolean
    extraBody?: JsonObject
    upstreamModel?: string
    unsupportedParams?: 'drop' | 'reject'
  } = {},
) {
  const {
    stream = false,
    extraBody = {},
    upstreamModel = 'claude-sonnet-4-6',
    unsupportedParams,
  } = more
  const dropped: string[] = []
  const route = {
    dialect,
    upstreamModel,
    extraBody,
    ...(unsupportedParams && { unsupportedParams }),
  }
  const request = messagesRequest(route, {
    body: { model: 'asked', messages, max_tokens: 9, ...fields },
    stream,
    dropped: (name) => void dropped.push(name),
  })
  return { ...request, dropped }
}

export const sentBody = (...args: Parameters<typeof send>) => send(...args).body

export const refusal = (message: string) =>
  expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(message) })
