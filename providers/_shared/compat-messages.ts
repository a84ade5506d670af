import { createHash } from 'node:crypto'
import type { ProviderCall } from 'model-gateway/provider'
import type { OutboundBody } from './outbound-body.ts'

/** OpenAI refuses a longer `user`, and so do others. */
const LONGEST_USER = 64

/** OpenAI's models that take the limit under its newer name alone: `o3`, `openai/gpt-5.5-mini`. */
const NEWER_LIMIT = /(?:^|[/.:])(?:o[1-9]|gpt-(?:[5-9]|1\d))(?=$|[-.:@])/i

/** Whether the upstream, by its model, wants `max_completion_tokens` for `max_tokens`. */
export function wantsNewerLimit(upstreamModel: string): boolean {
  return NEWER_LIMIT.test(upstreamModel)
}

/** APIs whose calls say `max_tokens` for every model. */
const CONVERTED: ReadonlySet<string> = new Set(['messages', 'google'])

/**
 * Makes a call that came by the messages API, or by generateContent, fit compatible upstreams; others stay as
 * they are.
 */
export function fitMessages(
  body: OutboundBody,
  { surface, dropped }: Pick<ProviderCall, 'surface' | 'dropped'>,
  newerLimit: boolean,
): void {
  if (!CONVERTED.has(surface)) return
  if (surface === 'google' && newerLimit) {
    // Gemini CLI sends both with every call, and models that reason refuse them.
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
  // Coding agents name device, account and session in it. Equal ones stay equal.
  if (typeof user === 'string' && user.length > LONGEST_USER) {
    body.set('user', `user_${createHash('sha256').update(user).digest('base64url')}`)
  }
}
