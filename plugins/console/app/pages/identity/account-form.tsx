import { useState } from 'react'
import { api, take } from '@/api/client.ts'
import { changesOf } from '@/lib/changes.ts'
import { KeyField, NameField } from '@/pages/identity/fields.tsx'
import { ModelAccessField } from '@/pages/identity/model-access.tsx'
import { invalidateIdentity, type ServiceAccount } from '@/pages/identity/words.tsx'
import { AmountField } from '@/ui/amount-field.tsx'
import { type Cadence, CadenceField } from '@/ui/cadence-field.tsx'
import { Field } from '@/ui/field.tsx'
import { OwnerPicker } from '@/ui/owner-picker.tsx'
import { SaveDialog } from '@/ui/save-dialog.tsx'

const teamsOnly = ['team'] as const

export interface AccountFormProps {
  /** null: a new account. */
  readonly account: ServiceAccount | null
  readonly onClose: () => void
  readonly onSaved: (account: ServiceAccount) => void
}

export function AccountForm({ account, onClose, onSaved }: AccountFormProps) {
  const [name, setName] = useState(account?.name ?? '')
  const [key, setKey] = useState('')
  const [team, setTeam] = useState(account?.team.team_id)
  const [access, setAccess] = useState(
    account?.model_access ?? { mode: 'all' as const, models: [] },
  )
  const [amount, setAmount] = useState('')
  const [cadence, setCadence] = useState<Cadence>('monthly')
  async function save(): Promise<ServiceAccount> {
    if (team === undefined) throw new Error('Choose a team.')
    const body = { name, team_id: team, model_access: access }
    if (account === null) {
      const budget = amount.trim() === '' ? {} : { budget: { cadence, amount_usd: amount.trim() } }
      return await take(
        api.POST('/api/v1/admin/service-accounts', { body: { ...body, ...budget, key } }),
      )
    }
    const { service_account_id } = account
    const changes = changesOf({ ...account, team_id: account.team.team_id }, body)
    if (Object.keys(changes).length === 0) return account
    return await take(
      api.PATCH('/api/v1/admin/service-accounts/{service_account_id}', {
        params: { path: { service_account_id } },
        body: changes,
      }),
    )
  }
  return (
    <SaveDialog
      title={account === null ? 'New service account' : `Edit ${account.name}`}
      action={account === null ? 'Create service account' : 'Save'}
      done={account === null ? `Created ${name}` : `Saved ${name}`}
      save={save}
      invalidate={invalidateIdentity}
      onSaved={onSaved}
      onClose={onClose}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <NameField value={name} onChange={setName} />
        {account === null && <KeyField value={key} onChange={setKey} />}
        <Field label="Team" hint="Team owners and admins receive the budget alerts">
          {(control) => (
            <OwnerPicker
              {...control}
              label="Choose a team"
              kinds={teamsOnly}
              value={team === undefined ? undefined : { kind: 'team', id: team }}
              onChange={(next) => setTeam(next?.id)}
            />
          )}
        </Field>
        {account === null && (
          <div className="grid grid-cols-2 gap-2">
            <AmountField
              label="Budget in USD"
              hint="Required: without a budget, calls are rejected"
              value={amount}
              onChange={setAmount}
            />
            <CadenceField value={cadence} onChange={setCadence} />
          </div>
        )}
      </div>
      <ModelAccessField value={access} onChange={setAccess} />
    </SaveDialog>
  )
}
