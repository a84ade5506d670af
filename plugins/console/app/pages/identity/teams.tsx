import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { isNarrowed, page, text, useFilters, useSubPath, usualOf } from '@/lib/filters.ts'
import { count } from '@/lib/format.ts'
import { nameColumn, sinceColumn } from '@/pages/identity/columns.tsx'
import { IdentityList, PAGE_SIZE, useOpen } from '@/pages/identity/list.tsx'
import { TeamForm } from '@/pages/identity/team-form.tsx'
import { TeamSheet } from '@/pages/identity/team-sheet.tsx'
import { accessText, type Team } from '@/pages/identity/words.tsx'
import type { Column } from '@/ui/data-table.tsx'
import { EmptyState } from '@/ui/notice.tsx'

const filters = { search: text, page }
const cleared = usualOf(filters, 'page')

const columns: readonly Column<Team>[] = [
  nameColumn,
  { key: 'key', header: 'Key', sort: ({ key }) => key, cell: ({ key }) => key },
  {
    key: 'members',
    header: 'Members',
    width: '7rem',
    align: 'right',
    sort: ({ member_count }) => member_count,
    cell: ({ member_count }) => count(member_count),
  },
  {
    key: 'accounts',
    header: 'Service accounts',
    width: '9rem',
    align: 'right',
    sort: ({ service_account_count }) => service_account_count,
    cell: ({ service_account_count }) => count(service_account_count),
  },
  { key: 'access', header: 'Models', cell: ({ model_access }) => accessText(model_access) },
  sinceColumn,
]

/** Teams, with the number of members and service accounts. */
export default function Teams() {
  const [values, change] = useFilters(filters)
  const [chosen] = useSubPath()
  const show = useOpen('/identity/teams')
  const [edited, setEdited] = useState<Team | null>()
  const query = useGet(
    '/api/v1/admin/teams',
    { query: { ...values, search: values.search.trim(), page_size: PAGE_SIZE } },
    { placeholderData: (before) => before },
  )
  return (
    <IdentityList
      title="Teams"
      note="A user is in at most one team; a service account is in exactly one. Teams have no budgets"
      action="New team"
      onNew={() => setEdited(null)}
      values={values}
      change={change}
      searchLabel="Search name or key"
      narrowed={isNarrowed(values, cleared)}
      onClear={() => change(cleared)}
      query={query}
      columns={columns}
      rowKey={({ team_id }) => team_id}
      onOpen={show}
      empty={
        <EmptyState title="No teams yet">
          Create a team to restrict models for several users at once, or to own service accounts.
        </EmptyState>
      }
    >
      <TeamSheet teamId={chosen} onClose={() => show()} onEdit={setEdited} />
      {edited !== undefined && (
        <TeamForm
          team={edited}
          onClose={() => setEdited(undefined)}
          onSaved={({ team_id }) => {
            setEdited(undefined)
            show(team_id)
          }}
        />
      )}
    </IdentityList>
  )
}
