import type { UserEntry } from './config.ts'
import type { Existing } from './seed.ts'

/**
 * The users whose role the file must not take: the platform admins who can sign in, when nobody
 * could any more after following it.
 */
export function lastAdmins(
  entries: readonly UserEntry[],
  { users, withPassword }: Pick<Existing, 'users' | 'withPassword'>,
): ReadonlySet<string> {
  const stated = new Map(entries.map(({ email, role }) => [email.toLowerCase(), role]))
  const able = users.filter(({ id, status }) => status === 'active' && withPassword.has(id))
  const stays = able.some(({ email, role, adminFields }) => {
    const next = adminFields.includes('role') ? undefined : stated.get(email)
    return (next ?? role) === 'platform_admin'
  })
  const admins = stays ? [] : able.filter(({ role }) => role === 'platform_admin')
  return new Set(admins.map(({ id }) => id))
}
