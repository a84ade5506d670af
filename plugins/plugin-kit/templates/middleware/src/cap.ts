import type { MiddlewareAt } from 'model-gateway/middleware'
import type { JsonObject } from 'model-gateway/plugin'

/** The fields of each API that limit output tokens. */
const fields: Readonly<Record<string, readonly string[]>> = {
  chat_completions: ['max_completion_tokens', 'max_tokens'],
  messages: ['max_tokens'],
  responses: ['max_output_tokens'],
}
const surfaces = Object.keys(fields)

/** The state key that `capTokens` sets for `tellCap`. */
const CAPPED = 'sample-name.capped'

/** Runs around `decode`. The gateway continues with the body that `replaceBody` sets. */
export function capTokens(limit: number): MiddlewareAt<'decode'> {
  return {
    id: 'sample-name.cap',
    around: 'decode',
    appliesTo: surfaces,
    async handle({ surface, state }, next) {
      const request = await next()
      const asked = (fields[surface] ?? []).filter((name) => Number(request.body[name]) > limit)
      if (asked.length === 0) return
      const capped: JsonObject = { ...request.body }
      for (const name of asked) capped[name] = limit
      request.replaceBody(capped)
      state.set(CAPPED, String(limit))
    },
  }
}

/** Runs around `respond`. Headers can be added until `next` is called. */
export const tellCap: MiddlewareAt<'respond'> = {
  id: 'sample-name.tell',
  around: 'respond',
  appliesTo: surfaces,
  async handle({ state, setHeader }, next) {
    const limit = state.get(CAPPED)
    if (typeof limit === 'string') setHeader('x-sample-name-capped', limit)
    await next()
  },
}
