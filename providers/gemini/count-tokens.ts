import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { CompatEndpoint } from '../_shared/compat-http.ts'
import type { Counter } from '../_shared/count-tokens.ts'
import { googleRequest } from '../_shared/google-content-request.ts'
import { createToolNames, GOOGLE_NAMES } from '../_shared/tool-names.ts'
import type { ModelName } from './config.ts'

/** countTokens, for the prompt of a messages request: https://ai.google.dev/api/tokens */
export function geminiCounter(endpoint: CompatEndpoint, { path, id }: ModelName): Counter {
  return {
    endpoint,
    body(prompt) {
      const call = { body: chatOf(prompt), stream: false, dropped() {} }
      const route = { upstreamModel: id, providerType: 'gemini' } as const
      const request = googleRequest(call, route, createToolNames(GOOGLE_NAMES))
      return { generateContentRequest: { model: path, ...request } }
    },
  }
}

/** The prompt as a chat with the same texts, calls, results and files. */
function chatOf({ system, messages, tools }: JsonObject): JsonObject {
  const turns = (Array.isArray(messages) ? messages : []).filter(isJsonObject).flatMap(turnOf)
  const first = system === undefined ? [] : [{ role: 'system', content: contentOf(system) }]
  return { messages: [...first, ...turns], ...(tools !== undefined && { tools }) }
}

function turnOf({ role = null, content = null }: JsonObject): JsonObject[] {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : []
  if (blocks.length === 0) return [{ role, content: contentOf(content) }]
  const ofType = (type: string) => blocks.filter((block) => block.type === type)
  const results = ofType('tool_result').map(({ tool_use_id = null, content: said = null }) => ({
    role: 'tool',
    tool_call_id: tool_use_id,
    content: contentOf(said),
  }))
  const calls = ofType('tool_use').map(({ id = null, name = null, input = null }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input ?? {}) },
  }))
  const rest = blocks.filter(({ type }) => type !== 'tool_result' && type !== 'tool_use')
  const said = rest.length === 0 && calls.length === 0 ? [] : [{ role, content: contentOf(rest) }]
  return [
    ...results,
    ...said.map((turn) => (calls.length === 0 ? turn : { ...turn, tool_calls: calls })),
  ]
}

const KNOWN = new Set<unknown>(['text', 'image', 'document', 'thinking', 'redacted_thinking'])

/** Blocks without a Google part are counted as JSON. */
function contentOf(content: JsonValue): JsonValue {
  if (!Array.isArray(content)) return content
  return content.map((block) =>
    isJsonObject(block) && KNOWN.has(block.type)
      ? block
      : { type: 'text', text: JSON.stringify(block) },
  )
}
