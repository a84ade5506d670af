import { useState } from 'react'
import { api, take } from '@/api/client.ts'
import { changesOf } from '@/lib/changes.ts'
import { KeyField, NameField } from '@/pages/identity/fields.tsx'
import { ModelAccessField } from '@/pages/identity/model-access.tsx'
import { invalidateIdentity, type Team } from '@/pages/identity/words.tsx'
import { SaveDialog } from '@/ui/save-dialog.tsx'

export interface TeamFormProps {
  /** null: a new team. */
  readonly team: Team | null
  readonly onClose: () => void
  readonly onSaved: (team: Team) => void
}

export function TeamForm({ team, onClose, onSaved }: TeamFormProps) {
  const [name, setName] = useState(team?.name ?? '')
  const [key, setKey] = useState('')
  const [access, setAccess] = useState(team?.model_access ?? { mode: 'all' as const, models: [] })
  async function save(): Promise<Team> {
    const body = { name, model_access: access }
    if (team === null)
      return await take(api.POST('/api/v1/admin/teams', { body: { ...body, key } }))
    const changes = changesOf(team, body)
    if (Object.keys(changes).length === 0) return team
    return await take(
      api.PATCH('/api/v1/admin/teams/{team_id}', {
        params: { path: { team_id: team.team_id } },
        body: changes,
      }),
    )
  }
  return (
    <SaveDialog
      title={team === null ? 'New team' : `Edit ${team.name}`}
      action={team === null ? 'Create team' : 'Save'}
      done={team === null ? `Created ${name}` : `Saved ${name}`}
      save={save}
      invalidate={invalidateIdentity}
      onSaved={onSaved}
      onClose={onClose}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <NameField value={name} onChange={setName} />
        {team === null && <KeyField value={key} onChange={setKey} />}
      </div>
      <ModelAccessField value={access} onChange={setAccess} />
    </SaveDialog>
  )
}
