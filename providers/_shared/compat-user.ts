import { createHash } from 'node:crypto'
import type { ProviderCall } from 'model-gateway/plugin'
import type { OutboundBody } from './outbound-body.ts'

/** OpenAI refuses a longer `user`, and so do others. */
const LONGEST = 64

/**
 * Shortens a `user` that came as the `user_id` of the messages API, where it may be longer: coding
 * agents name device, account and session in it. Equal ones stay equal.
 */
export function fitUser(body: OutboundBody, { apiSurface }: Pick<ProviderCall, 'apiSurface'>) {
  const user = body.get('user')
  if (apiSurface !== 'messages' || typeof user !== 'string' || user.length <= LONGEST) return
  body.set('user', `user_${createHash('sha256').update(user).digest('base64url')}`)
}
