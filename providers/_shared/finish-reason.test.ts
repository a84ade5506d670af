import { expect, test } from 'bun:test'
import { finishReason } from './finish-reason.ts'

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['something new', 'stop'],
  [null, 'stop'],
])('%p ends a choice as %s', (stopReason, reason) => {
  expect(finishReason(stopReason)).toBe(reason)
})
