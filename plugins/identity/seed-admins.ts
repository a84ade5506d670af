import type { UserEntry } from './config.ts'
import type { Existing } from './seed.ts'

/**
 * The users who keep their role: if the file would leave no platform admin who can sign in, all
 * platform admins who can sign in now.
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
