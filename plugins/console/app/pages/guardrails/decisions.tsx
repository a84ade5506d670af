import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import {
  instant,
  isNarrowed,
  oneOf,
  page as pageFilter,
  text,
  useFilters,
  usualOf,
} from '@/lib/filters.ts'
import { columns } from '@/pages/guardrails/decision-columns.tsx'
import { DecisionSheet } from '@/pages/guardrails/decision-sheet.tsx'
import {
  actionNames,
  actions,
  type Decision,
  phaseNames,
  phases,
  scopeName,
} from '@/pages/guardrails/query.ts'
import { Total } from '@/pages/guardrails/total.tsx'
import { Card, Stats } from '@/ui/card.tsx'
import { ChoiceFilter } from '@/ui/choice-filter.tsx'
import { Filters } from '@/ui/filters.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { PagedTable } from '@/ui/paged-table.tsx'
import { RangePicker } from '@/ui/range-picker.tsx'
import { TextFilter } from '@/ui/text-filter.tsx'

const filters = {
  occurred_at_start: instant,
  occurred_at_end: instant,
  action: oneOf(['', ...actions], ''),
  phase: oneOf(['', ...phases], ''),
  evaluator: text,
  scope: text,
  request_id: text,
  page: pageFilter,
}
const cleared = usualOf(filters, 'page')
const PAGE_SIZE = 100
const REFRESH_MS = 15_000

/** Decisions of packs and managed checks, newest first. */
export function Decisions() {
  const [values, change] = useFilters(filters)
  const [chosen, setChosen] = useState<Decision>()
  const policies = useGet('/api/v1/admin/guardrails/policies', {})
  const { action, page, ...query } = values
  const list = useGet(
    '/api/v1/admin/guardrails/decisions',
    { query: { ...query, action, page, page_size: PAGE_SIZE } },
    { placeholderData: (before) => before, refetchInterval: REFRESH_MS },
  )
  const filtered = isNarrowed(values, cleared)
  const evaluators = [
    ...(policies.data?.packs.map(({ id }) => id) ?? []),
    ...(policies.data?.managed_checks.map(({ name }) => name) ?? []),
  ]
  const scopes = [
    ...(policies.data?.policies.map(({ scope }) => scope) ?? []),
    ...(values.scope === '' ? [] : [values.scope]),
  ]
  return (
    <>
      <Filters narrowed={filtered} onClear={() => change(cleared)}>
        <RangePicker
          label="Time"
          value={{ start: values.occurred_at_start, end: values.occurred_at_end }}
          onChange={({ start, end }) => change({ occurred_at_start: start, occurred_at_end: end })}
        />
        <ChoiceFilter
          label="Decision"
          any="Any decision"
          className="w-36"
          options={actions.map((word) => [word, actionNames[word][0]])}
          value={action}
          onChange={(next) => change({ action: next })}
        />
        <ChoiceFilter
          label="Phase"
          any="Any phase"
          className="w-44"
          options={phases.map((word) => [word, phaseNames[word]])}
          value={values.phase}
          onChange={(phase) => change({ phase })}
        />
        <TextFilter
          label="Evaluated by"
          value={values.evaluator}
          onChange={(evaluator) => change({ evaluator })}
          options={evaluators}
        />
        <ChoiceFilter
          label="Policy"
          any="Any policy"
          className="w-48"
          options={new Map(scopes.map((scope) => [scope, scopeName(scope)]))}
          value={values.scope}
          onChange={(scope) => change({ scope })}
        />
        <TextFilter
          label="Request ID"
          value={values.request_id}
          onChange={(request_id) => change({ request_id })}
        />
      </Filters>
      <Stats className="md:grid-cols-4 xl:grid-cols-4">
        {actions.map((name) => (
          <Total
            key={name}
            action={name}
            query={query}
            chosen={action === name}
            onChoose={() => change({ action: action === name ? '' : name })}
          />
        ))}
      </Stats>
      <Card padded={false} aria-label="Decisions">
        <PagedTable
          query={list}
          label="Decisions"
          columns={columns}
          rowKey={({ decision_id }) => decision_id}
          minWidth={1000}
          onOpen={setChosen}
          onPage={(next) => change({ page: next })}
          filtered={
            filtered
              ? { title: 'No decisions match these filters', onClear: () => change(cleared) }
              : undefined
          }
          empty={<Nothing off={policies.data?.policies.every(({ enabled }) => !enabled)} />}
        />
      </Card>
      <DecisionSheet
        decision={chosen}
        packs={policies.data?.packs}
        onClose={() => setChosen(undefined)}
      />
    </>
  )
}

function Nothing({ off }: { off: boolean | undefined }) {
  return (
    <EmptyState title="No decisions yet">
      {off === true ? (
        <>
          No policy is enabled. Set <code className="font-mono">guardrails.default.enabled</code>{' '}
          and some packs in the config file;{' '}
        </>
      ) : (
        'Each evaluation by a pack or a managed check adds a decision here. '
      )}
      <Link
        to={'/guardrails/explain' as '/guardrails'}
        search={{}}
        className="text-accent-text underline"
      >
        Explain
      </Link>{' '}
      shows how packs evaluate a command, without running it.
    </EmptyState>
  )
}
