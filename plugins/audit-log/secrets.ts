import { isJsonObject, type JsonValue } from 'model-gateway/plugin'

/** Names whose values are never stored, as a last line of defence. */
const NAMES = new Set([
  'password',
  'current_password',
  'new_password',
  'secret',
  'client_secret',
  'token',
  'access_token',
  'refresh_token',
  'api_key',
  'private_key',
  'credentials',
  'authorization',
])
const KEY = /gwk_[a-z2-7]{16,}\.[\w-]{43,}/g
const REMOVED = '[removed]'

/** A copy without credentials. */
export function withoutSecrets(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replace(KEY, REMOVED)
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      NAMES.has(name.toLowerCase().replaceAll('-', '_')) ? REMOVED : withoutSecrets(member ?? null),
    ]),
  )
}
