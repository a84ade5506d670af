import { chosenOwner, filters, sourceNames } from '@/pages/budgets/words.ts'
import { Select } from '@/ui/field.tsx'
import { OwnerPicker } from '@/ui/owner-picker.tsx'

export type Values = { [K in keyof typeof filters]: ReturnType<(typeof filters)[K]['read']> }

const kinds = ['user', 'service_account'] as const

export interface FilterBarProps {
  readonly values: Values
  readonly change: (changes: Partial<Values>) => void
}

export function FilterBar({ values, change }: FilterBarProps) {
  return (
    <search className="flex flex-wrap items-center gap-2">
      <OwnerPicker
        label="Owner"
        kinds={kinds}
        value={chosenOwner(values)}
        className="w-56"
        onChange={(next) =>
          change({
            user_id: next?.kind === 'user' ? next.id : '',
            service_account_id: next?.kind === 'service_account' ? next.id : '',
          })
        }
      />
      <Select
        aria-label="Scope"
        className="w-44"
        value={values.scope_kind}
        onChange={({ target }) => change({ scope_kind: filters.scope_kind.read(target.value) })}
      >
        <option value="">Every scope</option>
        <option value="user">Users</option>
        <option value="user_model">A user and a model</option>
        <option value="service_account">Service accounts</option>
      </Select>
      <Select
        aria-label="Source"
        className="w-48"
        value={values.budget_source}
        onChange={({ target }) =>
          change({ budget_source: filters.budget_source.read(target.value) })
        }
      >
        <option value="">Every source</option>
        {Object.entries(sourceNames).map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </Select>
      <Select
        aria-label="State"
        className="w-32"
        value={values.status}
        onChange={({ target }) => change({ status: filters.status.read(target.value) })}
      >
        <option value="active">Active</option>
        <option value="inactive">Inactive</option>
        <option value="all">All</option>
      </Select>
    </search>
  )
}
