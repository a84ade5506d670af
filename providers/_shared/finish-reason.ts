import type { JsonValue } from 'model-gateway/plugin'

const reasons: ReadonlyMap<unknown, string> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['malformed_model_output', 'stop'],
  ['malformed_tool_use', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
])

/** `finish_reason` for a stop reason of the messages API or Converse; `stop` for unknown ones. */
export function finishReason(stopReason: JsonValue | undefined): string {
  return reasons.get(stopReason) ?? 'stop'
}
