import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, take, takeNothing } from '@/api/client.ts'
import { type Data, useGet } from '@/api/query.ts'
import { Facts } from '@/pages/identity/facts.tsx'
import {
  invalidateIdentity,
  Status,
  type Team,
  type TeamRole,
  teamRoles,
} from '@/pages/identity/words.tsx'
import { Button, buttonStyle } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { Sheet } from '@/ui/dialog.tsx'
import { DoButton } from '@/ui/do-button.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Select } from '@/ui/field.tsx'
import { OwnerPicker } from '@/ui/owner-picker.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Pagination } from '@/ui/pagination.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

type Member = Data<'/api/v1/admin/teams/{team_id}/members'>['items'][number]

const PAGE_SIZE = 50
const usersOnly = ['user'] as const

export interface TeamSheetProps {
  readonly teamId: string | undefined
  readonly onClose: () => void
  readonly onEdit: (team: Team) => void
}

export function TeamSheet({ teamId = '', onClose, onEdit }: TeamSheetProps) {
  const path = { team_id: teamId }
  const query = useGet('/api/v1/admin/teams/{team_id}', { path }, { enabled: teamId !== '' })
  return (
    <Sheet
      open={teamId !== ''}
      onClose={onClose}
      title={query.data?.name ?? 'Team'}
      description={query.data?.key}
    >
      <Loaded query={query}>
        {(team) => (
          <div className="grid gap-4">
            <div className="flex flex-wrap gap-2">
              <Button kind="primary" size="sm" onClick={() => onEdit(team)}>
                Edit
              </Button>
              <DoButton
                action="Delete"
                title={`Delete team ${team.name}?`}
                consequence="The team must have no members and no service accounts. Teams from the config file can be deleted only there. This cannot be undone."
                done={`${team.name} deleted`}
                act={() =>
                  takeNothing(api.DELETE('/api/v1/admin/teams/{team_id}', { params: { path } }))
                }
                invalidate={invalidateIdentity}
                onDone={onClose}
              />
              <Link to="/requests" search={path} className={buttonStyle({ size: 'sm' })}>
                Requests
              </Link>
              <Link
                to="/identity/service-accounts"
                search={path}
                className={buttonStyle({ size: 'sm' })}
              >
                Service accounts ({team.service_account_count})
              </Link>
            </div>
            <Facts of={team} rows={[]} />
            <Members team={team} />
          </div>
        )}
      </Loaded>
    </Sheet>
  )
}

function Members({ team }: { team: Team }) {
  const [page, setPage] = useState(1)
  const [role, setRole] = useState<TeamRole>('member')
  const path = { team_id: team.team_id }
  const query = useGet(
    '/api/v1/admin/teams/{team_id}/members',
    { path, query: { page, page_size: PAGE_SIZE } },
    { placeholderData: (before) => before },
  )
  const put = useMutation({
    // Not by the route of the team, because it does not move users who are in another team.
    mutationFn: ({ user_id, role }: { readonly user_id: string; readonly role: TeamRole }) =>
      take(
        api.PATCH('/api/v1/admin/users/{user_id}', {
          params: { path: { user_id } },
          body: { team: { ...path, role } },
        }),
      ),
    onSuccess: invalidateIdentity,
  })
  return (
    <Card
      title="Members"
      note="owners and admins receive the budget alerts of its service accounts"
      padded={false}
    >
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <OwnerPicker
          label="Add a user"
          kinds={usersOnly}
          value={undefined}
          className="w-64"
          onChange={(user) => user !== undefined && put.mutate({ user_id: user.id, role })}
        />
        <span className="text-muted">as</span>
        <RoleSelect label="Role of a new member" value={role} onChange={setRole} />
        <span className="text-xs text-muted">A user who is in another team moves to this one.</span>
      </div>
      {put.error !== null && <ErrorPanel error={put.error} />}
      <Loaded query={query}>
        {({ items, total }) =>
          total === 0 ? (
            <p className="px-4 py-3 text-muted">No members yet.</p>
          ) : (
            <>
              <Table aria-label="Members">
                <thead>
                  <tr>
                    <Th>Name</Th>
                    <Th>E-mail</Th>
                    <Th>Status</Th>
                    <Th>Role</Th>
                    <Th>
                      <span className="sr-only">Remove</span>
                    </Th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((member) => (
                    <MemberRow
                      key={member.user_id}
                      team={team}
                      member={member}
                      onRole={(next) => put.mutate({ user_id: member.user_id, role: next })}
                    />
                  ))}
                </tbody>
              </Table>
              {(total > PAGE_SIZE || page > 1) && (
                <Pagination page={page} pageSize={PAGE_SIZE} total={total} onPage={setPage} />
              )}
            </>
          )
        }
      </Loaded>
    </Card>
  )
}

interface MemberRowProps {
  readonly team: Team
  readonly member: Member
  readonly onRole: (role: TeamRole) => void
}

function MemberRow({ team, member, onRole }: MemberRowProps) {
  const { user_id, name, email, status, role } = member
  return (
    <Tr>
      <Td className="max-w-44 truncate font-medium">
        <Link
          to={`/identity/users/${user_id}` as '/identity/users'}
          className="hover:text-accent-text hover:underline"
        >
          {name}
        </Link>
      </Td>
      <Td className="max-w-52 truncate">{email}</Td>
      <Td>
        <Status status={status} />
      </Td>
      <Td>
        <RoleSelect label={`Role of ${name}`} value={role} onChange={onRole} />
      </Td>
      <Td className="text-right">
        <DoButton
          action="Remove"
          title={`Remove ${name} from ${team.name}?`}
          consequence="The team’s model restrictions no longer apply to the user. The user keeps keys, budgets and spend."
          done={`Removed ${name} from ${team.name}`}
          act={() =>
            takeNothing(
              api.DELETE('/api/v1/admin/teams/{team_id}/members/{user_id}', {
                params: { path: { team_id: team.team_id, user_id } },
              }),
            )
          }
          invalidate={invalidateIdentity}
        />
      </Td>
    </Tr>
  )
}

interface RoleSelectProps {
  readonly label: string
  readonly value: TeamRole
  readonly onChange: (role: TeamRole) => void
}

function RoleSelect({ label, value, onChange }: RoleSelectProps) {
  return (
    <Select
      aria-label={label}
      className="w-28"
      value={value}
      onChange={({ target }) => onChange(target.value as TeamRole)}
    >
      {teamRoles.map((role) => (
        <option key={role}>{role}</option>
      ))}
    </Select>
  )
}
