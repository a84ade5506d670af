import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import type { Change, Values } from '@/pages/requests/query.ts'
import { TextFilter } from '@/pages/requests/text-filter.tsx'

const none = { user_id: '', service_account_id: '', team_id: '' }
type Choice = typeof none

/** A user, a service account or a team, by name; the URL and the API have its id. */
export function OwnerFilter({ values, change }: { values: Values; change: Change }) {
  const { user_id, service_account_id, team_id } = values
  const [search, setSearch] = useState('')
  const listed = { query: { search: search.replace(/ · .*$/, ''), page_size: 20 } }
  const before = { placeholderData: <T,>(data: T | undefined) => data }
  const users = useGet('/api/v1/admin/users', listed, before)
  const accounts = useGet('/api/v1/admin/service-accounts', listed, before)
  const teams = useGet('/api/v1/admin/teams', listed, before)
  const choices = new Map<string, Choice>()
  for (const { name, email, user_id } of users.data?.items ?? []) {
    choices.set(`${name} · ${email}`, { ...none, user_id })
  }
  for (const { name, key, service_account_id } of accounts.data?.items ?? []) {
    choices.set(`${name} · service account ${key}`, { ...none, service_account_id })
  }
  for (const { name, key, team_id } of teams.data?.items ?? []) {
    choices.set(`${name} · team ${key}`, { ...none, team_id })
  }
  const name = useName({ user_id, service_account_id, team_id })
  return (
    <TextFilter
      label="Owner or team"
      className="w-52"
      value={name}
      options={[...choices.keys()]}
      onWrite={setSearch}
      strict
      onChange={(text) => {
        const known = text === '' ? none : choices.get(text)
        if (known !== undefined) change(known)
      }}
    />
  )
}

/** What the chosen owner is called; its id while nobody knows. */
function useName({ user_id, service_account_id, team_id }: Choice): string {
  const user = useGet(
    '/api/v1/admin/users/{user_id}',
    { path: { user_id } },
    { enabled: user_id !== '' },
  )
  const account = useGet(
    '/api/v1/admin/service-accounts/{service_account_id}',
    { path: { service_account_id } },
    { enabled: service_account_id !== '' },
  )
  const team = useGet(
    '/api/v1/admin/teams/{team_id}',
    { path: { team_id } },
    { enabled: team_id !== '' },
  )
  if (user_id !== '') return user.data === undefined ? user_id : user.data.name
  if (service_account_id !== '') return account.data?.name ?? service_account_id
  return team_id === '' ? '' : (team.data?.name ?? team_id)
}
