import type { GuardedToolCall } from '../plugin/guardrail.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import type { GuardToolCalls } from '../plugin/surface.ts'
import { plainJson } from './json-escapes.ts'

type Rewrite = (call: GuardedToolCall) => string

/** Tool calls in a chat reply. */
export function chatToolCalls(reply: JsonObject): GuardToolCalls {
  return toolCalls(reply, mapChoices)
}

/** Tool calls of earlier turns, as a chat request repeats them, in order. */
export function earlierChatToolCalls({ messages }: JsonObject): readonly GuardedToolCall[] {
  const turns = Array.isArray(messages) ? messages : []
  return chatToolCalls({ choices: turns.map((message) => ({ message })) }).calls
}

/** Tool calls in a reply of the responses API. */
export function responsesToolCalls(reply: JsonObject): GuardToolCalls {
  return toolCalls(reply, mapOutput)
}

/** Tool calls of earlier turns, as a request of the responses API repeats them, in order. */
export function earlierResponsesToolCalls({ input }: JsonObject): readonly GuardedToolCall[] {
  return responsesToolCalls({ output: input ?? null }).calls
}

function toolCalls(
  body: JsonObject,
  map: (body: JsonObject, rewrite: Rewrite) => JsonObject,
): GuardToolCalls {
  const calls: GuardedToolCall[] = []
  map(body, (call) => {
    calls.push(call)
    return call.arguments
  })
  return {
    calls,
    replace(others) {
      let at = 0
      return map(body, (call) => others[at++]?.arguments ?? call.arguments)
    },
  }
}

function mapChoices(body: JsonObject, rewrite: Rewrite): JsonObject {
  const { choices } = body
  if (!Array.isArray(choices)) return body
  return {
    ...body,
    choices: choices.map((choice) => {
      if (!isJsonObject(choice) || !isJsonObject(choice.message)) return choice
      let changed = false
      const message = mapMessage(choice.message, (call) => {
        const now = rewrite(call)
        changed ||= now !== call.arguments
        return now
      })
      // Some upstreams also list the tokens of calls.
      const tokens = changed && choice.logprobs !== undefined ? { logprobs: null } : {}
      return { ...choice, message, ...tokens }
    }),
  }
}

function mapMessage(message: JsonObject, rewrite: Rewrite): JsonObject {
  const { tool_calls, function_call } = message
  return {
    ...message,
    ...(Array.isArray(tool_calls) && {
      tool_calls: tool_calls.map((call) =>
        isJsonObject(call) ? mapChatCall(call, rewrite) : call,
      ),
    }),
    // The older format, before `tools`.
    ...(isJsonObject(function_call) && { function_call: mapFunction(function_call, rewrite) }),
  }
}

function mapChatCall(call: JsonObject, rewrite: Rewrite): JsonObject {
  if (isJsonObject(call.function)) return { ...call, function: mapFunction(call.function, rewrite) }
  if (isJsonObject(call.custom)) return { ...call, custom: mapText(call.custom, rewrite) }
  return call
}

/** Members of `output` that call a tool. */
function mapOutput(body: JsonObject, rewrite: Rewrite): JsonObject {
  const { output } = body
  if (!Array.isArray(output)) return body
  return {
    ...body,
    output: output.map((item): JsonValue => {
      if (!isJsonObject(item)) return item
      switch (item.type) {
        case 'function_call':
        case 'mcp_call':
        case 'mcp_approval_request':
          return mapFunction(item, rewrite)
        case 'custom_tool_call':
          return mapText(item, rewrite)
        case 'local_shell_call':
        case 'shell_call':
        case 'computer_call':
        case 'apply_patch_call':
          return mapAction(item, rewrite)
        default:
          return item
      }
    }),
  }
}

function mapFunction(call: JsonObject, rewrite: Rewrite): JsonObject {
  const written =
    typeof call.arguments === 'string'
      ? plainJson(call.arguments)
      : JSON.stringify(call.arguments ?? {})
  const tool = nameOf(call.name)
  const now = rewrite({ tool, arguments: written })
  return now === written ? call : { ...call, arguments: now }
}

/** Tools with free-text input. */
function mapText(call: JsonObject, rewrite: Rewrite): JsonObject {
  const written = JSON.stringify({ input: call.input ?? '' })
  const now = rewrite({ tool: nameOf(call.name), arguments: written })
  return now === written ? call : { ...call, ...(JSON.parse(now) as JsonObject) }
}

/** Tools named by their item type: `local_shell_call`. */
function mapAction(item: JsonObject, rewrite: Rewrite): JsonObject {
  const member = item.operation === undefined ? 'action' : 'operation'
  const written = JSON.stringify(item[member] ?? {})
  const tool = String(item.type).replace(/_call$/, '')
  const now = rewrite({ tool, arguments: written })
  return now === written ? item : { ...item, [member]: JSON.parse(now) as JsonValue }
}

function nameOf(name: JsonValue | undefined): string {
  return typeof name === 'string' ? name : ''
}
