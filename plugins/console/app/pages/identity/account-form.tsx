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
  /** null: a new one. */
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
    if (team === undefined) throw new Error('Choose the team that it belongs to.')
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
      title={account === null ? 'New service account' : `Change ${account.name}`}
      action={account === null ? 'Make the service account' : 'Save'}
      done={account === null ? `${name} is there` : `${name} is changed`}
      save={save}
      invalidate={invalidateIdentity}
      onSaved={onSaved}
      onClose={onClose}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <NameField value={name} onChange={setName} />
        {account === null && <KeyField value={key} onChange={setKey} />}
        <Field label="Team" hint="Its owners and admins get the budget alerts">
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
              hint="Its keys are refused without one"
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
