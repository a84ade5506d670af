import { isNarrowed, usualOf, type Values as ValuesOf } from '@/lib/filters.ts'
import { filters, sourceNames } from '@/pages/budgets/words.ts'
import { ChoiceFilter } from '@/ui/choice-filter.tsx'
import { Select } from '@/ui/field.tsx'
import { Filters } from '@/ui/filters.tsx'
import { OwnerFilter } from '@/ui/owner-filter.tsx'

export type Values = ValuesOf<typeof filters>

const kinds = ['user', 'service_account'] as const
const scopes = [
  ['user', 'Users'],
  ['user_model', 'User and model'],
  ['service_account', 'Service accounts'],
] as const
export const cleared = usualOf(filters, 'view', 'alert_status', 'new', 'page')

export interface FilterBarProps {
  readonly values: Values
  readonly change: (changes: Partial<Values>) => void
}

export function FilterBar({ values, change }: FilterBarProps) {
  const { scope_kind, budget_source, status } = values
  return (
    <Filters narrowed={isNarrowed(values, cleared)} onClear={() => change(cleared)}>
      <OwnerFilter label="Owner" kinds={kinds} values={values} change={change} />
      <ChoiceFilter
        label="Scope"
        any="Any scope"
        className="w-44"
        options={scopes}
        value={scope_kind}
        onChange={(next) => change({ scope_kind: next })}
      />
      <ChoiceFilter
        label="Source"
        any="Any source"
        className="w-48"
        options={Object.entries(sourceNames) as [keyof typeof sourceNames, string][]}
        value={budget_source}
        onChange={(next) => change({ budget_source: next })}
      />
      <Select
        aria-label="State"
        className="w-32"
        active={status !== 'active'}
        value={status}
        onChange={({ target }) => change({ status: filters.status.read(target.value) })}
      >
        <option value="active">Active</option>
        <option value="inactive">Inactive</option>
        <option value="all">All</option>
      </Select>
    </Filters>
  )
}
