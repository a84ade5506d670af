import type { AuditEntry, AuditTrail } from 'model-gateway/admin'

/** Notes an event in the audit log. */
export type Note = (entry: AuditEntry) => void

/**
 * Does nothing without a plugin that keeps an audit log.
 *
 * @example const note = createNote(ctx.uses.trail)
 */
export function createNote(trail: () => AuditTrail | undefined): Note {
  return (entry) => trail()?.note?.(entry)
}
