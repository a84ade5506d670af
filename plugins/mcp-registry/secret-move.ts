import type { AuditEntry, AuditTrail } from 'model-gateway/admin'
import { secretOf } from './declaration.ts'
import type { SecretMove, ServerRow, Transaction } from './store.ts'

/** What changes in the row of a server whose secret moves, or does no more. */
export interface SecretMoved {
  readonly secret_moved?: SecretMove | null
}

/** Where the same secret goes from now on, if that is another origin than before. */
export function secretMove(before: ServerRow, after: ServerRow): SecretMoved {
  const secret = secretOf(after)
  if (secretOf(before) !== secret) return before.secret_moved === null ? {} : { secret_moved: null }
  const from = new URL(before.server_url).origin
  const to = new URL(after.server_url).origin
  if (secret === undefined || from === to) return {}
  return { secret_moved: { from, to, at: new Date().toISOString() } }
}

/** Writes the audit entry of a move, if it is one. */
export async function auditSecretMove(
  trail: AuditTrail,
  tx: Transaction,
  by: Pick<AuditEntry, 'actor' | 'requestId'>,
  after: Pick<ServerRow, 'id' | 'auth_config'>,
  { secret_moved }: SecretMoved,
): Promise<void> {
  if (!secret_moved) return
  await trail.write(tx, {
    ...by,
    action: 'mcp_server.secret_moved',
    objectKind: 'mcp_server',
    objectId: after.id,
    before: { origin: secret_moved.from },
    after: { origin: secret_moved.to, secret_ref: secretOf(after) ?? null },
  })
}
