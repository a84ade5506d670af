import { isJsonObject, type JsonValue } from '../plugin/json.ts'
import { invalid } from './invalid.ts'
import { repeatedMember } from './json-keys.ts'
import { knownInOtherCase } from './key-case.ts'

/** Members, in any API, that determine what a call does, its model and its cost. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'stream_options', 'service_tier', 'n', 'metadata', 'user', 'store'],
  // Model, seller or conversation.
  ...['models', 'route', 'provider', 'providers', 'fallbacks', 'plugins', 'preset', 'prompt'],
  ...['conversation', 'previous_response_id', 'container', 'thread', 'background'],
  // Input of the model.
  ...['messages', 'input', 'system', 'instructions', 'tools', 'tool_choice', 'functions'],
  ...['function_call', 'mcp_servers', 'context_management', 'web_search_options', 'include'],
  // Limits and form of the output.
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_tool_calls', 'stop'],
  ...['stop_sequences', 'temperature', 'top_p', 'top_k', 'response_format', 'text', 'truncation'],
  ...['modalities', 'audio', 'dimensions', 'encoding_format', 'parallel_tool_calls', 'verbosity'],
  ...['reasoning', 'reasoning_effort', 'thinking', 'output_config', 'anthropic_beta'],
])

/**
 * Refuses a body that its upstream could read differently than the gateway: one with a duplicate
 * member or a known member in another case. `members` is the number of members in its text. Throws
 * `invalid_request`, which names the member.
 */
export function requireUnambiguousKeys(body: JsonValue, text: string, members: number): void {
  if (!isJsonObject(body)) return
  const keys = Object.keys(body)
  if (keys.length !== members) {
    throw invalid(`${repeatedMember(text, 0)}: is in the body twice; send it once`)
  }
  for (const key of keys) {
    const known = knownInOtherCase(key, KNOWN)
    if (known !== undefined) throw invalid(`${key}: write it ${known}, in lower case`)
  }
}
