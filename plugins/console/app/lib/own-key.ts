import { api, take } from '@/api/client.ts'
import { invalidate } from '@/api/query.ts'

const HOUR_MS = 3_600_000
const MARGIN_MS = 60_000

let held: { readonly userId: string; readonly key: string; readonly until: number } | undefined

/**
 * An API key of the signed-in admin for live checks. It expires after an hour and is kept only in
 * this window's memory.
 */
export async function ownKey(userId: string): Promise<string> {
  if (held?.userId === userId && held.until - MARGIN_MS > Date.now()) return held.key
  const until = Date.now() + HOUR_MS
  const issued = await take(
    api.POST('/api/v1/admin/api-keys', {
      body: {
        name: 'Console live check (1 hour)',
        owner: { kind: 'user', user_id: userId },
        model_grant_mode: 'all',
        granted_models: [],
        mcp_servers: [],
        expires_at: new Date(until).toISOString(),
      },
    }),
  )
  held = { userId, key: issued.api_key, until }
  await invalidate('/api/v1/admin/api-keys', '/api/v1/me/api-keys')
  return held.key
}
