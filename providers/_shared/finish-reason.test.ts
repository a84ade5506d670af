import { expect, test } from 'bun:test'
import { finishReason } from './finish-reason.ts'

test.each([
  ['stop', ['end_turn', 'stop_sequence', 'pause_turn', 'something new', null]],
  ['length', ['max_tokens', 'model_context_window_exceeded']],
  ['tool_calls', ['tool_use']],
  ['content_filter', ['refusal', 'guardrail_intervened', 'content_filtered']],
])('a choice ends as %s for %p', (reason, stopReasons) => {
  for (const stopReason of stopReasons) expect(finishReason(stopReason)).toBe(reason)
})
