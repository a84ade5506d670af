import { useState } from 'react'
import { api, take } from '@/api/client.ts'
import { changesOf } from '@/lib/changes.ts'
import { NameField } from '@/pages/identity/fields.tsx'
import { ModelAccessField } from '@/pages/identity/model-access.tsx'
import { invalidateIdentity, type TeamRole, teamRoles, type User } from '@/pages/identity/words.tsx'
import { Checkbox, Field, Input, Select } from '@/ui/field.tsx'
import { OwnerPicker } from '@/ui/owner-picker.tsx'
import { SaveDialog } from '@/ui/save-dialog.tsx'

const teamsOnly = ['team'] as const

export interface UserFormProps {
  /** null: a new user. */
  readonly user: User | null
  readonly onClose: () => void
  readonly onSaved: (user: User) => void
}

export function UserForm({ user, onClose, onSaved }: UserFormProps) {
  const [name, setName] = useState(user?.name ?? '')
  const [email, setEmail] = useState(user?.email ?? '')
  const [role, setRole] = useState(user?.role ?? 'user')
  const [team, setTeam] = useState(user?.team?.team_id)
  const [teamRole, setTeamRole] = useState<TeamRole>(user?.team?.role ?? 'member')
  const [access, setAccess] = useState(user?.model_access ?? { mode: 'all' as const, models: [] })
  const [logging, setLogging] = useState(user?.request_logging_enabled ?? true)
  const [password, setPassword] = useState('')
  const body = {
    name,
    email,
    role,
    request_logging_enabled: logging,
    model_access: access,
    ...(password !== '' && { password }),
  }
  const membership = team === undefined ? null : { team_id: team, role: teamRole }
  async function save(): Promise<User> {
    if (user === null) {
      return await take(
        api.POST('/api/v1/admin/users', {
          body: { ...body, ...(membership && { team: membership }) },
        }),
      )
    }
    const before = user.team && { team_id: user.team.team_id, role: user.team.role }
    const changes = changesOf({ ...user, team: before }, { ...body, team: membership })
    if (Object.keys(changes).length === 0) return user
    return await take(
      api.PATCH('/api/v1/admin/users/{user_id}', {
        params: { path: { user_id: user.user_id } },
        body: changes,
      }),
    )
  }
  return (
    <SaveDialog
      title={user === null ? 'New user' : `Edit ${user.name}`}
      action={user === null ? 'Create user' : 'Save'}
      done={user === null ? `Created ${name}` : `Saved ${name}`}
      save={save}
      invalidate={invalidateIdentity}
      onSaved={onSaved}
      onClose={onClose}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <NameField value={name} onChange={setName} />
        <Field
          label="E-mail"
          {...(user?.from_config && {
            hint: 'Cannot be changed while the config file declares this user',
          })}
        >
          {(control) => (
            <Input
              {...control}
              type="email"
              required
              value={email}
              onChange={({ target }) => setEmail(target.value)}
            />
          )}
        </Field>
        <Field label="Role" hint="Platform admins can view and change everything">
          {(control) => (
            <Select
              {...control}
              value={role}
              onChange={({ target }) => setRole(target.value as User['role'])}
            >
              <option value="user">User</option>
              <option value="platform_admin">Platform admin</option>
            </Select>
          )}
        </Field>
        <Field
          label={user?.has_password ? 'New password' : 'Password'}
          hint={
            user?.has_password
              ? 'Leave empty to keep the current password. A new one ends all sessions'
              : 'At least 12 characters. Leave empty for a user with API keys only'
          }
        >
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="new-password"
              minLength={12}
              maxLength={256}
              value={password}
              onChange={({ target }) => setPassword(target.value)}
            />
          )}
        </Field>
        <Field label="Team">
          {(control) => (
            <OwnerPicker
              {...control}
              label="No team"
              kinds={teamsOnly}
              value={team === undefined ? undefined : { kind: 'team', id: team }}
              onChange={(next) => setTeam(next?.id)}
            />
          )}
        </Field>
        {team !== undefined && (
          <Field label="Role in the team" hint="Team owners and admins receive its budget alerts">
            {(control) => (
              <Select
                {...control}
                value={teamRole}
                onChange={({ target }) => setTeamRole(target.value as TeamRole)}
              >
                {teamRoles.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </Select>
            )}
          </Field>
        )}
      </div>
      <ModelAccessField value={access} onChange={setAccess} />
      <Checkbox
        label="Log requests"
        checked={logging}
        onChange={({ target }) => setLogging(target.checked)}
      />
    </SaveDialog>
  )
}
