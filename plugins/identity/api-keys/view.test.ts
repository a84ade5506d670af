import { expect, test } from 'bun:test'
import type { ApiKeyRow } from './store.ts'
import { viewOfKey } from './view.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const EARLIER = new Date('2026-11-21T11:00:00Z')
const SOON = new Date('2026-11-21T13:00:00Z')
const LATER = new Date('2026-11-22T12:00:00Z')

const rotated: ApiKeyRow = {
  api_key_id: 'k1',
  public_id: 'aaaaaaaaaaaaaaaa',
  name: 'main',
  user_id: 'u1',
  service_account_id: null,
  owner_name: 'Ada',
  email: 'ada@example.com',
  service_account_key: '',
  model_grant_mode: 'all',
  granted_models: [],
  mcp_servers: null,
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  rotated_at: EARLIER,
  previous_until: LATER,
  from_config: false,
  created_at: EARLIER,
}

test.each<[string, Partial<ApiKeyRow>, Date | null]>([
  ['as long as was said', {}, LATER],
  ['no longer than the key itself', { expires_at: SOON }, SOON],
  ['no more when its time is over', { previous_until: NOW }, null],
  ['no more when the key has expired', { expires_at: NOW }, null],
  ['no more when the key was revoked', { revoked_at: EARLIER }, null],
])('the secret before a rotation is accepted %s', (_, changes, until) => {
  const { previous_secret_until } = viewOfKey({ ...rotated, ...changes }, NOW)
  expect(previous_secret_until).toBe(until?.toISOString() ?? null)
})
