import type { AuditEntry, AuditTrail } from 'model-gateway/admin'
import { secretOf } from './declaration.ts'
import type { SecretMove, ServerRow, Transaction } from './store.ts'

/** The columns that change when a server's secret starts or stops going to another origin. */
export interface SecretMoved {
  readonly secret_moved?: SecretMove | null
}

/** The new origin that receives the same secret, if the origin changed. */
export function secretMove(before: ServerRow, after: ServerRow): SecretMoved {
  const secret = secretOf(after)
  if (secretOf(before) !== secret) return before.secret_moved === null ? {} : { secret_moved: null }
  const from = new URL(before.server_url).origin
  const to = new URL(after.server_url).origin
  if (secret === undefined || from === to) return {}
  return { secret_moved: { from, to, at: new Date().toISOString() } }
}

/** Writes the audit entry if the origin changed. */
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
