import { type StreamEvent, streamEvent } from '../plugin/index.ts'

const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }

export const chunk = (content: string, finish_reason: string | null = null) =>
  streamEvent(
    JSON.stringify({
      model: 'mine',
      choices: [{ index: 0, delta: { content }, finish_reason }],
      usage,
    }),
  )

/** A complete chat, in three batches. */
export const whole = [[chunk('a')], [chunk('b', 'stop')], [streamEvent('[DONE]')]]

export async function* upstream(batches: readonly (readonly StreamEvent[])[]) {
  yield* batches
}

/** Yields its events, then waits. */
export async function* silent(batches: readonly (readonly StreamEvent[])[]) {
  yield* batches
  await new Promise(() => {})
}
