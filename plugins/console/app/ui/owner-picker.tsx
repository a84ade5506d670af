import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { type Choice, foundOf, Picker, type PickerProps } from '@/ui/picker.tsx'

/** A user, service account or team, by ID. */
export interface Owner {
  readonly kind: 'user' | 'service_account' | 'team'
  readonly id: string
}

export interface OwnerPickerProps
  extends Omit<PickerProps, 'chosen' | 'choices' | 'found' | 'onSearch' | 'onChoose'> {
  /** Must be stable between renders: declared outside the component. */
  readonly kinds: readonly Owner['kind'][]
  readonly value: Owner | undefined
  readonly onChange: (owner: Owner | undefined) => void
}

const SHOWN = 12
const kept = { placeholderData: <T,>(before: T | undefined) => before }

/** Finds users, service accounts or teams by name; the value is an ID. */
export function OwnerPicker({ kinds, value, onChange, ...rest }: OwnerPickerProps) {
  const [search, setSearch] = useState('')
  const query = { query: { search: search.trim(), page_size: SHOWN } }
  const of = (kind: Owner['kind']) => ({ ...kept, enabled: kinds.includes(kind) })
  const users = useGet('/api/v1/admin/users', query, of('user'))
  const accounts = useGet('/api/v1/admin/service-accounts', query, of('service_account'))
  const teams = useGet('/api/v1/admin/teams', query, of('team'))
  const asked = { user: users, service_account: accounts, team: teams }
  // `enabled` does not hide what another picker has put into the cache, so filter by kind.
  const listed = <T,>(kind: Owner['kind'], data: { readonly items: readonly T[] } | undefined) =>
    kinds.includes(kind) ? (data?.items ?? []) : []
  const choices: readonly Choice[] = [
    ...listed('user', users.data).map(({ user_id, name, email }) => ({
      key: `user ${user_id}`,
      label: name,
      note: email,
    })),
    ...listed('service_account', accounts.data).map(({ service_account_id, name, key }) => ({
      key: `service_account ${service_account_id}`,
      label: name,
      note: `service account ${key}`,
    })),
    ...listed('team', teams.data).map(({ team_id, name, key }) => ({
      key: `team ${team_id}`,
      label: name,
      note: `team ${key}`,
    })),
  ]
  return (
    <Picker
      {...rest}
      chosen={useOwnerName(value)}
      choices={choices}
      found={foundOf(kinds.map((kind) => asked[kind]))}
      onSearch={setSearch}
      onChoose={(key) => {
        const [kind, id] = key?.split(' ') ?? []
        onChange(id === undefined ? undefined : { kind: kind as Owner['kind'], id })
      }}
    />
  )
}

/** The name of an owner; '' while it loads. */
function useOwnerName(owner: Owner | undefined): string {
  const of = (kind: Owner['kind']) => ({ enabled: owner?.kind === kind })
  const id = owner?.id ?? ''
  const user = useGet('/api/v1/admin/users/{user_id}', { path: { user_id: id } }, of('user'))
  const account = useGet(
    '/api/v1/admin/service-accounts/{service_account_id}',
    { path: { service_account_id: id } },
    of('service_account'),
  )
  const team = useGet('/api/v1/admin/teams/{team_id}', { path: { team_id: id } }, of('team'))
  if (owner === undefined) return ''
  const found = { user, service_account: account, team }[owner.kind]
  return found.data?.name ?? (found.isError ? 'unknown' : '…')
}
