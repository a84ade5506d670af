import type { AuditTrail } from 'model-gateway/admin'
import { type Command, type CommandSpec, UsageError } from 'model-gateway/plugin'
import { once, readArguments } from '../../_shared/arguments.ts'
import { accountKey } from './sessions.ts'
import type { SessionStore } from './store.ts'

export const adminUnlock: CommandSpec = {
  name: 'admin unlock',
  summary: 'Resets the failed sign-ins of an account on all replicas',
  usage: '--email E',
}

/** `gateway admin unlock`: works while the gateway runs. */
export function createUnlockCommand(
  store: Pick<SessionStore, 'unlock'>,
  audit: () => AuditTrail,
): Command {
  return {
    name: adminUnlock.name,
    async run(args, out) {
      const email = once(readArguments(args, ['--email']), '--email')
        ?.trim()
        .toLowerCase()
      if (email === undefined) throw new UsageError('--email is required')
      const unlocked = await store.unlock(email, accountKey(email), (sql, userId) =>
        audit().write(sql, {
          actor: undefined,
          requestId: 'command:admin-unlock',
          action: 'user.unlock',
          objectKind: 'user',
          objectId: userId,
        }),
      )
      if (!unlocked) throw new UsageError(`no user has the email address ${email}`)
      out(`failed sign-ins of ${email} were reset`)
    },
  }
}
