import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { isNarrowed, useFilters } from '@/lib/filters.ts'
import { columns } from '@/pages/audit-log/columns.tsx'
import { EntrySheet } from '@/pages/audit-log/entry-sheet.tsx'
import {
  actions,
  cleared,
  type Entry,
  filters,
  objectKinds,
  objectNames,
} from '@/pages/audit-log/query.ts'
import { Card } from '@/ui/card.tsx'
import { ChoiceFilter } from '@/ui/choice-filter.tsx'
import { Filters } from '@/ui/filters.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { OwnerPicker } from '@/ui/owner-picker.tsx'
import { Page } from '@/ui/page.tsx'
import { PagedTable } from '@/ui/paged-table.tsx'
import { RangePicker } from '@/ui/range-picker.tsx'
import { TextFilter } from '@/ui/text-filter.tsx'

const PAGE_SIZE = 100
const REFRESH_MS = 15_000
const kinds = ['user'] as const

/** Changes by administrators, sign-ins and rejected attempts, newest first. */
export default function AuditLog() {
  const [values, change] = useFilters(filters)
  const [chosen, setChosen] = useState<Entry>()
  const list = useGet(
    '/api/v1/admin/audit-log',
    { query: { ...values, page_size: PAGE_SIZE } },
    { placeholderData: (before) => before, refetchInterval: REFRESH_MS },
  )
  const filtered = isNarrowed(values, cleared)
  return (
    <Page title="Audit log" note="Changes by administrators, sign-ins and rejected attempts">
      <Filters narrowed={filtered} onClear={() => change(cleared)}>
        <RangePicker
          label="Time"
          value={{ start: values.occurred_at_start, end: values.occurred_at_end }}
          onChange={({ start, end }) => change({ occurred_at_start: start, occurred_at_end: end })}
        />
        <OwnerPicker
          label="Actor"
          kinds={kinds}
          className="w-52"
          value={
            values.actor_user_id === '' ? undefined : { kind: 'user', id: values.actor_user_id }
          }
          onChange={(actor) => change({ actor_user_id: actor?.id ?? '' })}
        />
        <ChoiceFilter
          label="Object"
          any="Any object"
          className="w-40"
          options={[...new Set([...objectKinds, values.object_kind])]
            .filter((kind) => kind !== '')
            .map((kind) => [kind, objectNames[kind] ?? kind])}
          value={values.object_kind}
          onChange={(object_kind) => change({ object_kind })}
        />
        <TextFilter
          label="Action"
          value={values.action}
          onChange={(action) => change({ action })}
          options={actions}
        />
        <TextFilter
          label="Object ID"
          value={values.object_id}
          onChange={(object_id) => change({ object_id })}
        />
        <TextFilter
          label="Request ID"
          value={values.request_id}
          onChange={(request_id) => change({ request_id })}
        />
      </Filters>
      <Card padded={false} aria-label="Changes">
        <PagedTable
          query={list}
          label="Changes"
          columns={columns}
          rowKey={({ audit_id }) => audit_id}
          minWidth={1140}
          onOpen={setChosen}
          onPage={(next) => change({ page: next })}
          filtered={
            filtered
              ? { title: 'No entries match these filters', onClear: () => change(cleared) }
              : undefined
          }
          empty={
            <EmptyState title="No entries yet">
              Each change to users, keys, budgets or MCP servers adds an entry here, with the values
              before and after.
            </EmptyState>
          }
        />
      </Card>
      <EntrySheet entry={chosen} onClose={() => setChosen(undefined)} />
    </Page>
  )
}
