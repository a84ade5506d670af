import { useState } from 'react'
import { api, take } from '@/api/client.ts'
import { get, useAll } from '@/api/query.ts'
import { modelOf } from '@/lib/budgets.ts'
import { changesOf } from '@/lib/changes.ts'
import { listedNames } from '@/lib/wildcards.ts'
import { invalidateBudgets } from '@/pages/budgets/budget-sheet.tsx'
import { type Budget, ownerName, type Scope } from '@/pages/budgets/words.ts'
import { AmountField } from '@/ui/amount-field.tsx'
import { type Cadence, CadenceField } from '@/ui/cadence-field.tsx'
import { Checkbox, Field, Input, Select } from '@/ui/field.tsx'
import { type Owner, OwnerPicker } from '@/ui/owner-picker.tsx'
import { SaveDialog } from '@/ui/save-dialog.tsx'

const kinds = ['user', 'service_account'] as const

export interface BudgetFormProps {
  /** null: a new budget. */
  readonly budget: Budget | null
  /** The owner of a new budget, if it is already known. */
  readonly owner: Owner | undefined
  readonly onClose: () => void
  readonly onSaved: (budget: Budget) => void
}

/** Creates the budget of a scope, or replaces it. */
export function BudgetForm({ budget, owner, onClose, onSaved }: BudgetFormProps) {
  const [scope, setScope] = useState(budget?.scope ?? scopeOf(owner, 'all', ''))
  const [amount, setAmount] = useState(budget?.settings?.amount_usd ?? '')
  const [cadence, setCadence] = useState<Cadence>(budget?.settings?.cadence ?? 'monthly')
  const [hard, setHard] = useState(budget?.settings?.hard_limit ?? true)
  const [unpriced, setUnpriced] = useState(budget?.settings?.unpriced ?? 'allow')
  async function save(): Promise<Budget> {
    if (scope === undefined) throw new Error('Choose an owner.')
    const written = { cadence, amount_usd: amount.trim(), hard_limit: hard, unpriced }
    const changes = changesOf(budget?.settings ?? {}, written)
    const body = { scope, ...written, ...(await settingsOf(budget)), ...changes }
    return await take(api.PUT('/api/v1/admin/spend/budgets', { body }))
  }
  return (
    <SaveDialog
      title={budget === null ? 'New budget' : `Budget of ${ownerName(budget)}`}
      description={budget === null ? undefined : modelOf(budget.scope)}
      action={budget === null ? 'Create budget' : 'Save'}
      ready={scope !== undefined}
      done="Budget saved"
      save={save}
      invalidate={invalidateBudgets}
      onSaved={onSaved}
      onClose={onClose}
    >
      {budget === null && <ScopeFields first={owner} onChange={setScope} />}
      <div className="grid gap-3 sm:grid-cols-2">
        <AmountField
          label="Amount in USD"
          hint="Up to 12 decimal places. 0 rejects every call"
          required
          value={amount}
          onChange={setAmount}
        />
        <CadenceField value={cadence} onChange={setCadence} />
      </div>
      <div className="grid gap-0.5">
        <Checkbox
          label="Hard limit"
          checked={hard}
          onChange={({ target }) => setHard(target.checked)}
        />
        <p className="pl-6 text-xs text-muted">
          {hard
            ? 'When the budget is used up, calls are rejected until the window ends.'
            : 'When the budget is used up, calls continue. Only an alert is raised.'}
        </p>
      </div>
      <div className="grid gap-0.5">
        <Checkbox
          label="Reject calls without a price"
          checked={unpriced === 'refuse'}
          onChange={({ target }) => setUnpriced(target.checked ? 'refuse' : 'allow')}
        />
        <p className="pl-6 text-xs text-muted">
          {unpriced === 'refuse'
            ? 'Calls without an exact price are rejected.'
            : 'Calls without a price are served and count as $0.'}
        </p>
      </div>
      <p className="text-muted">
        Replaces any existing budget of this scope. Spend in the current window counts. The config
        file no longer updates this budget.
      </p>
    </SaveDialog>
  )
}

/**
 * Reads the current settings, because another admin may have changed fields that this form does not
 * change.
 */
async function settingsOf(budget: Budget | null): Promise<Budget['settings']> {
  if (budget === null) return null
  const path = { budget_id: budget.budget_id }
  return (await get('/api/v1/admin/spend/budgets/{budget_id}/burn-down', { path })).budget.settings
}

type Reach = 'all' | 'model' | 'upstream'

interface ScopeFieldsProps {
  readonly first: Owner | undefined
  readonly onChange: (scope: Scope | undefined) => void
}

function ScopeFields({ first, onChange }: ScopeFieldsProps) {
  const [owner, setOwner] = useState(first)
  const [reach, setReach] = useState<Reach>('all')
  const [model, setModel] = useState('')
  const models = useAll('/api/v1/admin/models', {})
  function set(next: { owner?: Owner | undefined; reach: Reach; model: string }) {
    setOwner(next.owner)
    setReach(next.reach)
    setModel(next.model)
    onChange(scopeOf(next.owner, next.reach, next.model.trim()))
  }
  return (
    <>
      <Field label="Owner" hint="A user or a service account. Teams have no budgets">
        {(control) => (
          <OwnerPicker
            {...control}
            label="Name or e-mail"
            kinds={kinds}
            value={owner}
            onChange={(next) => set({ owner: next, reach: 'all', model: '' })}
          />
        )}
      </Field>
      {owner?.kind === 'user' && (
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Applies to">
            {(control) => (
              <Select
                {...control}
                value={reach}
                onChange={({ target }) => set({ owner, reach: target.value as Reach, model: '' })}
              >
                <option value="all">All models combined</option>
                <option value="model">One model</option>
                <option value="upstream">One upstream model</option>
              </Select>
            )}
          </Field>
          {reach === 'model' && (
            <Field
              label="Model"
              hint="Calls to an alias count for its model"
              problem={models.error?.message}
            >
              {(control) => (
                <>
                  <Input
                    {...control}
                    required
                    maxLength={256}
                    list={`${control.id}-models`}
                    value={model}
                    onChange={({ target }) => set({ owner, reach, model: target.value })}
                  />
                  <datalist id={`${control.id}-models`}>
                    {listedNames(
                      (models.data?.items ?? []).filter(({ alias_of }) => alias_of === null),
                    ).map((name) => (
                      <option key={name} value={name} />
                    ))}
                  </datalist>
                </>
              )}
            </Field>
          )}
          {reach === 'upstream' && (
            <Field label="Upstream model" hint="The provider’s name for the model, on any route">
              {(control) => (
                <Input
                  {...control}
                  required
                  maxLength={256}
                  value={model}
                  onChange={({ target }) => set({ owner, reach, model: target.value })}
                />
              )}
            </Field>
          )}
        </div>
      )}
    </>
  )
}

function scopeOf(owner: Owner | undefined, reach: Reach, model: string): Scope | undefined {
  if (owner === undefined) return undefined
  if (owner.kind === 'service_account') return { kind: owner.kind, service_account_id: owner.id }
  if (reach === 'all') return { kind: 'user', user_id: owner.id }
  if (model === '') return undefined
  return reach === 'model'
    ? { kind: 'user_model', user_id: owner.id, model_id: model }
    : { kind: 'user_model', user_id: owner.id, upstream_model: model }
}
