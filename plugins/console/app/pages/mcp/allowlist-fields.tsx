import type { Server } from '@/pages/mcp/query.ts'
import { Field, Select } from '@/ui/field.tsx'
import { NameList, namesIn } from '@/ui/name-list.tsx'

/** The callers of a server in the form; undefined: all API keys. */
export type Callers = Record<'users' | 'teams' | 'service_accounts', readonly string[]> | undefined

export function callersOf(allowlist: Server['allowlist'] | undefined): Callers {
  return allowlist ? { users: [], teams: [], service_accounts: [], ...allowlist } : undefined
}

/** The body to send, without empty lists. */
export function allowlistOf(callers: Callers): Server['allowlist'] {
  if (callers === undefined) return null
  const lists = Object.entries(callers).map(([kind, names]) => [kind, namesIn(names)] as const)
  return Object.fromEntries(lists.filter(([, names]) => names.length > 0))
}

/** A short text for the callers of a server. */
export function callersText(allowlist: Server['allowlist']): string {
  if (allowlist === null) return 'every API key'
  const { users = [], teams = [], service_accounts = [] } = allowlist
  return [
    ...users,
    ...teams.map((team) => `team ${team}`),
    ...service_accounts.map((account) => `service account ${account}`),
  ].join(', ')
}

export interface AllowlistFieldsProps {
  readonly value: Callers
  readonly onChange: (callers: Callers) => void
}

export function AllowlistFields({ value, onChange }: AllowlistFieldsProps) {
  return (
    <>
      <Field
        label="Callers"
        hint="For other keys the server does not exist. An API key can also be limited to certain servers."
      >
        {(control) => (
          <Select
            {...control}
            value={value === undefined ? 'all' : 'listed'}
            onChange={({ target }) => onChange(target.value === 'all' ? undefined : callersOf({}))}
          >
            <option value="all">Every API key</option>
            <option value="listed">Selected callers</option>
          </Select>
        )}
      </Field>
      {value !== undefined && (
        <div className="grid gap-3 sm:grid-cols-3">
          <NameList
            label="Users"
            hint="E-mail addresses, one per line"
            value={value.users}
            onChange={(users) => onChange({ ...value, users })}
          />
          <NameList
            label="Teams"
            hint="Team keys, one per line. All members can use the server"
            value={value.teams}
            onChange={(teams) => onChange({ ...value, teams })}
          />
          <NameList
            label="Service accounts"
            hint="Service account keys, one per line"
            value={value.service_accounts}
            onChange={(service_accounts) => onChange({ ...value, service_accounts })}
          />
        </div>
      )}
    </>
  )
}
