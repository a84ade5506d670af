import { type AuditEntry, auditTrail } from 'model-gateway/admin'
import type { Services } from 'model-gateway/plugin'

/** Notes an event in the audit log. */
export type Note = (entry: AuditEntry) => void

/**
 * Without a plugin that keeps an audit log, nothing is noted.
 *
 * @example const note = createNote(ctx.services)
 */
export function createNote(services: Services): Note {
  return (entry) => services.all(auditTrail)[0]?.note?.(entry)
}
