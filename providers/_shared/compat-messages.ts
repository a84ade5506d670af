import { createHash } from 'node:crypto'
import type { ProviderCall } from 'model-gateway/provider'
import type { OutboundBody } from './outbound-body.ts'

/** OpenAI and others refuse a longer `user`. */
const LONGEST_USER = 64

/** OpenAI models that accept only `max_completion_tokens`: `o3`, `openai/gpt-5.5-mini`. */
const NEWER_LIMIT = /(?:^|[/.:])(?:o[1-9]|gpt-(?:[5-9]|1\d))(?=$|[-.:@])/i

/** Whether the upstream's model requires `max_completion_tokens` instead of `max_tokens`. */
export function wantsNewerLimit(upstreamModel: string): boolean {
  return NEWER_LIMIT.test(upstreamModel)
}

/** APIs whose calls have `max_tokens` for each model. */
const CONVERTED: ReadonlySet<string> = new Set(['messages', 'google'])

/**
 * Adapts a call from the messages API, or from generateContent, to compatible upstreams. Other
 * calls are unchanged.
 */
export function fitMessages(
  body: OutboundBody,
  { surface, dropped }: Pick<ProviderCall, 'surface' | 'dropped'>,
  newerLimit: boolean,
): void {
  if (!CONVERTED.has(surface)) return
  if (surface === 'google' && newerLimit) {
    // Gemini CLI always sends both, and reasoning models refuse them.
    for (const name of ['temperature', 'top_p']) {
      if (body.get(name) === undefined) continue
      body.remove(name)
      dropped(name)
    }
  }
  const limit = body.get('max_tokens')
  if (newerLimit && limit !== undefined) {
    body.remove('max_tokens')
    body.set('max_completion_tokens', limit)
  }
  const user = body.get('user')
  // Hashed, because coding agents put device, account and session in it. Equal ids stay equal.
  if (typeof user === 'string' && user.length > LONGEST_USER) {
    body.set('user', `user_${createHash('sha256').update(user).digest('base64url')}`)
  }
}
