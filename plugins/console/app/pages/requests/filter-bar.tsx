import { useId, useState } from 'react'
import { useAll } from '@/api/query.ts'
import { isNarrowed } from '@/lib/filters.ts'
import { listedNames } from '@/lib/wildcards.ts'
import {
  type Change,
  cleared,
  further,
  operationNames,
  operations,
  outcomeNames,
  outcomes,
  type Values,
} from '@/pages/requests/query.ts'
import { Button } from '@/ui/button.tsx'
import { ChoiceFilter } from '@/ui/choice-filter.tsx'
import { Filters, filterRow } from '@/ui/filters.tsx'
import { OwnerFilter } from '@/ui/owner-filter.tsx'
import { RangePicker } from '@/ui/range-picker.tsx'
import { TextFilter } from '@/ui/text-filter.tsx'

const kinds = ['user', 'service_account', 'team'] as const
const statuses = [
  '200',
  '400',
  '401',
  '403',
  '404',
  '413',
  '422',
  '429',
  '499',
  '500',
  '502',
  '503',
  '504',
]

/** All filters of the API. */
export function FilterBar({ values, change }: { values: Values; change: Change }) {
  const used = further.filter((name) => values[name] !== '').length
  const [wanted, setWanted] = useState(false)
  const id = useId()
  const open = wanted || used > 0
  const models = useAll('/api/v1/admin/models', {})
  const providers = useAll('/api/v1/admin/providers', {})
  const set = (name: keyof Values) => (value: string) => change({ [name]: value })
  const field = (
    name: 'request_id' | 'agent_harness_key' | 'error_code' | 'service' | 'component' | 'env',
    label: string,
  ) => <TextFilter label={label} value={values[name]} onChange={set(name)} />
  return (
    <Filters
      narrowed={isNarrowed(values, cleared)}
      onClear={() => change(cleared)}
      more={
        open && (
          <div id={id} className={filterRow}>
            {field('request_id', 'Request ID')}
            <ChoiceFilter
              label="Kind"
              any="Any kind"
              className="w-36"
              options={operations.map((operation) => [
                operation,
                operationNames[operation] ?? operation,
              ])}
              value={values.operation}
              onChange={(operation) => change({ operation })}
            />
            {field('agent_harness_key', 'Harness')}
            <ChoiceFilter
              label="Outcome"
              any="Any outcome"
              className="w-40"
              options={outcomes.map((outcome) => [outcome, outcomeNames[outcome]])}
              value={values.outcome}
              onChange={(outcome) => change({ outcome })}
            />
            {field('error_code', 'Error code')}
            {field('service', 'Service')}
            {field('component', 'Component')}
            {field('env', 'Environment')}
            <TagFilter values={values} change={change} />
          </div>
        )
      }
    >
      <RangePicker
        label="Time"
        value={{ start: values.occurred_at_start, end: values.occurred_at_end }}
        onChange={({ start, end }) => change({ occurred_at_start: start, occurred_at_end: end })}
      />
      <TextFilter
        label="Model"
        value={values.model_key}
        onChange={set('model_key')}
        options={models.data && listedNames(models.data.items)}
      />
      <TextFilter
        label="Provider"
        value={values.provider_key}
        onChange={set('provider_key')}
        options={providers.data?.items.map(({ provider_key }) => provider_key)}
      />
      <OwnerFilter label="Owner or team" kinds={kinds} values={values} change={change} />
      <ChoiceFilter
        label="Status"
        any="Any status"
        className="w-32"
        options={[...new Set([...statuses, values.status_code])]
          .filter((status) => status !== '')
          .map((status) => [status, `Status ${status}`])}
        value={values.status_code}
        onChange={set('status_code')}
      />
      <Button
        kind="ghost"
        aria-expanded={open}
        aria-controls={id}
        disabled={used > 0}
        onClick={() => setWanted(!wanted)}
      >
        {open ? 'Fewer filters' : 'More filters'}
      </Button>
    </Filters>
  )
}

/** A tag filter needs a key and a value; one alone is not sent. */
function TagFilter({ values, change }: { values: Values; change: Change }) {
  const half = (values.tag_key === '') !== (values.tag_value === '')
  return (
    <span className="col-span-2 inline-flex items-center gap-1 max-sm:*:min-w-0">
      <TextFilter label="Tag" value={values.tag_key} onChange={(tag_key) => change({ tag_key })} />
      <span aria-hidden className="text-muted">
        =
      </span>
      <TextFilter
        label="Tag value"
        value={values.tag_value}
        onChange={(tag_value) => change({ tag_value })}
      />
      {half && <span className="text-xs text-warn">Enter both key and value</span>}
    </span>
  )
}
