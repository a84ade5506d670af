import { useState } from 'react'
import { api, take } from '@/api/client.ts'
import { useGet } from '@/api/query.ts'
import { isNarrowed, oneOf, page, text, useFilters, useSubPath, usualOf } from '@/lib/filters.ts'
import { sinceColumn, statusColumn } from '@/pages/identity/columns.tsx'
import { Facts } from '@/pages/identity/facts.tsx'
import { IdentityList, PAGE_SIZE, useOpen } from '@/pages/identity/list.tsx'
import { OwnerLinks } from '@/pages/identity/owner-links.tsx'
import { StatusButton } from '@/pages/identity/status-button.tsx'
import { UserForm } from '@/pages/identity/user-form.tsx'
import { accessText, Status, type User } from '@/pages/identity/words.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { ChoiceFilter } from '@/ui/choice-filter.tsx'
import type { Column } from '@/ui/data-table.tsx'
import { Sheet } from '@/ui/dialog.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { OwnerFilter } from '@/ui/owner-filter.tsx'
import { Loaded } from '@/ui/page.tsx'

const filters = {
  search: text,
  status: oneOf(['', 'active', 'invited', 'disabled'], ''),
  role: oneOf(['', 'platform_admin', 'user'], ''),
  team_id: text,
  page,
}
const cleared = usualOf(filters, 'page')
const teamsOnly = ['team'] as const
const statuses = [
  ['active', 'Active'],
  ['invited', 'Invited'],
  ['disabled', 'Disabled'],
] as const
const roles = [
  ['platform_admin', 'Platform admins'],
  ['user', 'Users'],
] as const

const columns: readonly Column<User>[] = [
  {
    key: 'name',
    header: 'Name',
    width: '1.3fr',
    sort: ({ name }) => name.toLowerCase(),
    cell: ({ name, role }) => (
      <span className="flex items-center gap-2">
        <span className="min-w-0 truncate font-medium">{name}</span>
        {role === 'platform_admin' && <Badge tone="accent">admin</Badge>}
      </span>
    ),
  },
  {
    key: 'email',
    header: 'E-mail',
    width: '1.6fr',
    sort: ({ email }) => email,
    cell: ({ email }) => email,
  },
  {
    key: 'team',
    header: 'Team',
    sort: ({ team }) => team?.name ?? '',
    cell: ({ team }) =>
      team === null ? (
        <span className="text-muted">none</span>
      ) : (
        <>
          {team.name} <span className="text-muted">{team.role}</span>
        </>
      ),
  },
  statusColumn,
  { key: 'access', header: 'Models', cell: ({ model_access }) => accessText(model_access) },
  {
    key: 'sign-in',
    header: 'Sign-in',
    width: '6rem',
    sort: ({ has_password }) => Number(has_password),
    cell: ({ has_password }) =>
      has_password ? 'yes' : <span className="text-muted">API keys</span>,
  },
  sinceColumn,
]

/** Users, with their teams, model access and status. */
export default function Users() {
  const [values, change] = useFilters(filters)
  const { status, role } = values
  const [chosen] = useSubPath()
  const show = useOpen('/identity/users')
  const [edited, setEdited] = useState<User | null>()
  const query = useGet(
    '/api/v1/admin/users',
    { query: { ...values, search: values.search.trim(), page_size: PAGE_SIZE } },
    { placeholderData: (before) => before },
  )
  return (
    <IdentityList
      title="Users"
      note="People who sign in or use API keys"
      action="New user"
      onNew={() => setEdited(null)}
      values={values}
      change={change}
      searchLabel="Search name or e-mail"
      narrowed={isNarrowed(values, cleared)}
      onClear={() => change(cleared)}
      query={query}
      columns={columns}
      rowKey={({ user_id }) => user_id}
      onOpen={show}
      minWidth={980}
      empty={
        <EmptyState title="No users yet">
          Create a user, or declare users in the config file.
        </EmptyState>
      }
      filters={
        <>
          <ChoiceFilter
            label="Status"
            any="Any status"
            className="w-36"
            options={statuses}
            value={status}
            onChange={(next) => change({ status: next })}
          />
          <ChoiceFilter
            label="Role"
            any="Any role"
            className="w-36"
            options={roles}
            value={role}
            onChange={(next) => change({ role: next })}
          />
          <OwnerFilter label="Team" kinds={teamsOnly} values={values} change={change} />
        </>
      }
    >
      <UserSheet userId={chosen} onClose={() => show()} onEdit={setEdited} />
      {edited !== undefined && (
        <UserForm
          user={edited}
          onClose={() => setEdited(undefined)}
          onSaved={({ user_id }) => {
            setEdited(undefined)
            show(user_id)
          }}
        />
      )}
    </IdentityList>
  )
}

const consequences = {
  enable: 'The user’s valid API keys and password work again immediately.',
  disable:
    'The user is signed out and all API keys are rejected immediately. Nothing is deleted, and you can enable the user again.',
}

interface UserSheetProps {
  readonly userId: string | undefined
  readonly onClose: () => void
  readonly onEdit: (user: User) => void
}

function UserSheet({ userId = '', onClose, onEdit }: UserSheetProps) {
  const path = { user_id: userId }
  const query = useGet('/api/v1/admin/users/{user_id}', { path }, { enabled: userId !== '' })
  const set = (status: 'active' | 'disabled') =>
    take(api.PATCH('/api/v1/admin/users/{user_id}', { params: { path }, body: { status } }))
  return (
    <Sheet
      open={userId !== ''}
      onClose={onClose}
      title={query.data?.name ?? 'User'}
      description={query.data?.email}
    >
      <Loaded query={query}>
        {(user) => (
          <div className="grid gap-4">
            <div className="flex flex-wrap gap-2">
              <Button kind="primary" size="sm" onClick={() => onEdit(user)}>
                Edit
              </Button>
              <StatusButton of={user} consequences={consequences} set={set} />
            </div>
            <Facts
              of={user}
              rows={[
                ['Status', <Status key="status" status={user.status} />],
                ['Role', user.role === 'platform_admin' ? 'platform admin' : 'user'],
                ['Team', user.team === null ? 'none' : `${user.team.name}, ${user.team.role}`],
                ['Sign-in', user.has_password ? 'with a password' : 'API keys only'],
                ['Request logging', user.request_logging_enabled ? 'on' : 'off'],
              ]}
            />
            <OwnerLinks owner={{ kind: 'user', id: user.user_id }} />
          </div>
        )}
      </Loaded>
    </Sheet>
  )
}
