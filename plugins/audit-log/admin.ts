import { type AdminRoute, adminRoute, listOf, pageQuery } from 'model-gateway/admin'
import { type Static, strictObject, Type } from 'model-gateway/plugin'
import { Id, ownId } from '../_shared/own-id.ts'
import { readPage } from '../_shared/page.ts'
import { periodQuery, readPeriod } from '../_shared/query.ts'
import { Instant, nullable } from '../_shared/schema.ts'
import type { AuditRow, Store } from './store.ts'

const Text = Type.Optional(Type.String({ maxLength: 200 }))

const AuditItem = Type.Object({
  audit_id: Type.String(),
  occurred_at: Instant,
  actor_user_id: nullable(Type.String()),
  actor_email: nullable(Type.String()),
  request_id: Type.String(),
  action: Type.String(),
  object_kind: Type.String(),
  object_id: Type.String(),
  before: Type.Unknown({ description: 'State before the change; null for a new object.' }),
  after: Type.Unknown({ description: 'State after the change; null for a deleted object.' }),
  address: nullable(Type.String(), 'Client address; null for commands and the config file.'),
  user_agent: nullable(Type.String(), 'User-Agent header, up to 256 characters.'),
  outcome: nullable(
    Type.String(),
    'success, or the error code of the refusal; null in entries of older versions.',
  ),
  occurrences: Type.Integer({
    description:
      'Number of events in the entry. Repeats of an event within a minute share a second entry.',
  }),
})

/** `GET /api/v1/admin/audit-log` */
export function auditRoutes(store: Pick<Store, 'list'>): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/audit-log',
      audience: 'platform_admin',
      tag: 'audit log',
      summary: 'Changes by administrators, sign-ins, refusals and payload reads, newest first.',
      query: strictObject({
        ...pageQuery,
        actor_user_id: Type.Optional(Id),
        action: Text,
        object_kind: Text,
        object_id: Text,
        request_id: Text,
        ...periodQuery,
      }),
      result: listOf(AuditItem),
      handle({ query }) {
        const filter = {
          actorUserId: query.actor_user_id,
          action: query.action,
          objectKind: query.object_kind,
          objectId: query.object_id && ownId(query.object_id),
          requestId: query.request_id,
          ...readPeriod(query),
        }
        return readPage(query, (page) => store.list(filter, page), viewOf)
      },
    }),
  ]
}

function viewOf(row: AuditRow): Static<typeof AuditItem> {
  return {
    audit_id: row.id,
    occurred_at: row.occurredAt.toISOString(),
    actor_user_id: row.actorUserId,
    actor_email: row.actorEmail,
    request_id: row.requestId,
    action: row.action,
    object_kind: row.objectKind,
    object_id: row.objectId,
    before: row.before,
    after: row.after,
    address: row.address,
    user_agent: row.userAgent,
    outcome: row.outcome,
    occurrences: Number(row.occurrences),
  }
}
