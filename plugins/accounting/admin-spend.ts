import { type AdminRoute, adminRoute, listOf, pageOf, pageQuery } from 'model-gateway/admin'
import type { Directory } from 'model-gateway/identity'
import { type Clock, strictObject, Type } from 'model-gateway/plugin'
import { callerOwner } from '../_shared/caller-owner.ts'
import type { Note } from '../_shared/note.ts'
import { ownId } from '../_shared/own-id.ts'
import { Count, nullable, Text } from '../_shared/schema.ts'
import { plainText } from './budget-wire.ts'
import { Reason, RejectedCharge, wireCharge } from './charge-wire.ts'
import { FOCUS_VERSION, focusFile } from './focus.ts'
import { OwnReport, Report, reportLists, reportOwners } from './report.ts'
import type { ReportStore, Selection } from './report-store.ts'
import { Days, lastDays, OwnerKind, ownerKindOf, rangeQuery, readRange } from './spend-query.ts'
import { dayText, utcDay } from './window.ts'

export interface SpendRoutesOptions {
  readonly store: ReportStore
  readonly directory: () => Promise<Directory>
  readonly clock: Clock
  readonly note: Note
}

const tag = 'spend'
const Unpriced = Type.Object({
  reason: Text,
  provider_key: Text,
  upstream_model: Text,
  pricing_provider_id: nullable(
    Type.String({
      description:
        'The price list that was searched; null: the provider has no pricing_provider_id',
    }),
  ),
  pricing_model: Type.String({ description: 'The model that was looked up in the price list' }),
  request_count: Count,
  total_tokens: Count,
  within_hard_limit: Type.Integer({
    description: 'Requests whose owner now has a hard limit, which did not count them',
  }),
})
const exported = {
  contentType: 'text/csv; charset=utf-8',
  result: Type.String(),
  replyHeaders: {
    'content-disposition': 'Suggested file name',
    'x-focus-version': 'FOCUS version of the columns',
    'x-focus-excluded-unpriced-requests': 'Unpriced requests in the range, which the file omits',
    'x-focus-excluded-usage-missing-requests':
      'Requests without usage in the range, which the file omits',
  },
}

export function spendRoutes({ store, directory, clock, note }: SpendRoutesOptions): AdminRoute[] {
  const today = () => utcDay(clock.now())

  async function focus(selection: Selection, reply: Headers) {
    const known = await directory()
    const charges = await store.charges(selection)
    reply.set(
      'content-disposition',
      `attachment; filename="focus-${FOCUS_VERSION}_${dayText(selection.start)}_${dayText(selection.end - 1)}.csv"`,
    )
    reply.set('x-focus-version', FOCUS_VERSION)
    reply.set('x-focus-excluded-unpriced-requests', charges.unpriced)
    reply.set('x-focus-excluded-usage-missing-requests', charges.usageMissing)
    return focusFile(charges.rows, known)
  }

  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/spend/report',
      audience: 'platform_admin',
      tag,
      summary: 'Spend by day, owner and model.',
      query: strictObject({ days: Type.Optional(Days), owner_kind: Type.Optional(OwnerKind) }),
      result: Report,
      async handle({ query }) {
        const { days = 7, owner_kind = 'all' } = query
        const window = lastDays(days, today())
        const [rows, known] = await Promise.all([
          store.report({ ...window, ownerKind: ownerKindOf(owner_kind) }),
          directory(),
        ])
        return { owner_kind, ...reportLists(rows, window), owners: reportOwners(rows, known) }
      },
    }),

    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/spend/unpriced',
      audience: 'platform_admin',
      tag,
      summary: 'Unpriced calls by reason. They add nothing to spend or budgets.',
      query: strictObject({ days: Type.Optional(Days), owner_kind: Type.Optional(OwnerKind) }),
      result: Type.Object({ items: Type.Array(Unpriced) }),
      async handle({ query }) {
        const { days = 7, owner_kind = 'all' } = query
        const selection = { ...lastDays(days, today()), ownerKind: ownerKindOf(owner_kind) }
        return { items: [...(await store.unpriced(selection))] }
      },
    }),

    adminRoute({
      method: 'GET',
      path: '/api/v1/me/spend',
      audience: 'me',
      tag: 'me',
      summary: "The caller's own spend and usage by day and model.",
      query: strictObject({ days: Type.Optional(Days) }),
      result: OwnReport,
      async handle({ caller, query }) {
        const window = lastDays(query.days ?? 7, today())
        const { kind, id } = callerOwner(caller)
        const rows = await store.report({ ...window, ownerKind: kind, ownerId: id })
        return reportLists(rows, window)
      },
    }),

    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/spend/focus.csv',
      audience: 'platform_admin',
      tag,
      summary: `Charges as a FOCUS ${FOCUS_VERSION} file: a row for each day, owner, upstream and pricing status.`,
      query: strictObject({ ...rangeQuery, owner_kind: Type.Optional(OwnerKind) }),
      ...exported,
      async handle({ query, caller, requestId, reply }) {
        const ownerKind = ownerKindOf(query.owner_kind)
        const selection = { ...readRange(query, today()), ownerKind }
        const file = await focus(selection, reply)
        const about = { objectKind: 'spend', objectId: query.owner_kind ?? 'all' }
        note({ actor: caller, requestId, action: 'spend.exported', ...about })
        return file
      },
    }),

    adminRoute({
      method: 'GET',
      path: '/api/v1/me/spend/focus.csv',
      audience: 'me',
      tag: 'me',
      summary: `The caller's own charges as a FOCUS ${FOCUS_VERSION} file.`,
      query: strictObject(rangeQuery),
      ...exported,
      handle({ caller, query, reply }) {
        const { kind, id } = callerOwner(caller)
        return focus({ ...readRange(query, today()), ownerKind: kind, ownerId: id }, reply)
      },
    }),

    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/spend/rejected-charges',
      audience: 'platform_admin',
      tag,
      summary: 'Rejected charges: served calls whose charge is not in the ledger, newest first.',
      query: strictObject({
        ...pageQuery,
        owner_kind: Type.Optional(OwnerKind),
        owner_id: Type.Optional(Type.String(plainText)),
        request_id: Type.Optional(Type.String(plainText)),
        reason: Type.Optional(Reason),
      }),
      result: listOf(RejectedCharge),
      async handle({ query }) {
        const { page, page_size, offset } = pageOf(query)
        const filter = {
          ownerKind: ownerKindOf(query.owner_kind),
          ownerId: query.owner_id && ownId(query.owner_id),
          requestId: query.request_id,
          reason: query.reason,
        }
        const [{ charges, total }, known] = await Promise.all([
          store.rejected(filter, { limit: page_size, offset }),
          directory(),
        ])
        return { items: charges.map((charge) => wireCharge(charge, known)), page, page_size, total }
      },
    }),
  ]
}
