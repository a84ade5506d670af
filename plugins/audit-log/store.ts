import type { AuditEntry, AuditTrail } from 'model-gateway/admin'
import type { Database, JsonValue } from 'model-gateway/plugin'
import { deleteInBatches } from '../_shared/delete-in-batches.ts'
import type { Page, Rows } from '../_shared/page.ts'
import type { Period } from '../_shared/query.ts'
import { limitedText } from '../_shared/safe-text.ts'
import type { NotedEntry } from './events.ts'
import { withoutSecrets } from './secrets.ts'

/** Maximum length of a stored user agent, in characters. */
const LONGEST_AGENT = 256

export interface AuditRow {
  readonly id: string
  readonly occurredAt: Date
  readonly actorUserId: string | null
  readonly actorEmail: string | null
  readonly requestId: string
  readonly action: string
  readonly objectKind: string
  readonly objectId: string
  readonly before: JsonValue
  readonly after: JsonValue
  readonly address: string | null
  readonly userAgent: string | null
  readonly outcome: string | null
  readonly occurrences: bigint
}

/** An absent member does not filter. */
export interface AuditFilter extends Period {
  readonly actorUserId: string | undefined
  readonly action: string | undefined
  readonly objectKind: string | undefined
  readonly objectId: string | undefined
  readonly requestId: string | undefined
}

export interface Store extends Pick<AuditTrail, 'write'> {
  /** Writes all entries or none. */
  writeEvents(entries: readonly NotedEntry[]): Promise<void>
  /**
   * Deletes refusals before that time. Unauthenticated callers cause them, so they must not
   * accumulate.
   */
  purgeRefusals(before: Date): Promise<void>
  /** Newest first. */
  list(filter: AuditFilter, page: Page): Promise<Rows<AuditRow>>
}

/** Absent values become SQL null, not JSON `null`. */
function json(value: JsonValue | undefined): string | null {
  return value === undefined || value === null ? null : JSON.stringify(withoutSecrets(value))
}

async function insert(
  tx: Parameters<AuditTrail['write']>[0],
  entry: AuditEntry & Partial<NotedEntry>,
): Promise<void> {
  const { actor, before, after, outcome = 'success', occurrences = 1, occurredAt } = entry
  await tx`
    insert into audit_log.audit_log (id, occurred_at, actor_user_id, actor_email, request_id, action,
      object_kind, object_id, before, after, address, user_agent, outcome, occurrences)
    values (${Bun.randomUUIDv7()}, coalesce(${occurredAt ?? null}, clock_timestamp()),
      ${actor?.userId ?? null}, ${actor?.email ?? null}, ${entry.requestId}, ${entry.action},
      ${entry.objectKind}, ${entry.objectId}, ${json(before)}::text::jsonb,
      ${json(after)}::text::jsonb, ${entry.address ?? actor?.address ?? null},
      ${limitedText(entry.userAgent ?? actor?.userAgent, LONGEST_AGENT) ?? null}, ${outcome}, ${occurrences})`
}

export function createStore({ sql }: Database): Store {
  return {
    write: insert,
    async writeEvents(entries) {
      await sql.begin(async (tx) => {
        for (const entry of entries) await insert(tx, entry)
      })
    },
    async purgeRefusals(before) {
      // Replicas that purge at the same time take different rows.
      await deleteInBatches(
        (most) => sql`
          delete from audit_log.audit_log where id in (
            select id from audit_log.audit_log
            where outcome <> 'success' and occurred_at < ${before}
            order by occurred_at limit ${most} for update skip locked)`,
      )
    },
    async list(filter, { offset, page_size }) {
      const where = sql`
        where true
        ${filter.actorUserId === undefined ? sql`` : sql`and actor_user_id = ${filter.actorUserId}`}
        ${filter.action === undefined ? sql`` : sql`and action = ${filter.action}`}
        ${filter.objectKind === undefined ? sql`` : sql`and object_kind = ${filter.objectKind}`}
        ${filter.objectId === undefined ? sql`` : sql`and object_id = ${filter.objectId}`}
        ${filter.requestId === undefined ? sql`` : sql`and request_id = ${filter.requestId}`}
        ${filter.start === undefined ? sql`` : sql`and occurred_at >= ${filter.start}`}
        ${filter.end === undefined ? sql`` : sql`and occurred_at < ${filter.end}`}`
      const [count] = await sql<{ total: bigint }[]>`
        select count(*) as total from audit_log.audit_log ${where}`
      const rows = await sql<AuditRow[]>`
        select id, occurred_at as "occurredAt", actor_user_id as "actorUserId",
          actor_email as "actorEmail", request_id as "requestId", action,
          object_kind as "objectKind", object_id as "objectId", before, after,
          address, user_agent as "userAgent", outcome, occurrences
        from audit_log.audit_log ${where}
        order by occurred_at desc, id desc limit ${page_size} offset ${offset}`
      return { rows, total: Number(count?.total ?? 0) }
    },
  }
}
