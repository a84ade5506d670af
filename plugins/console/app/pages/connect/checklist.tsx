import { Link } from '@tanstack/react-router'
import { Circle, CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { useAll, useGet } from '@/api/query.ts'
import { cx } from '@/lib/cx.ts'
import { Card } from '@/ui/card.tsx'

const LOOK_AGAIN_MS = 5_000
const one = { page_size: 1 }

interface Step {
  readonly label: string
  /** undefined: still loading. */
  readonly done: boolean | undefined
  readonly how: ReactNode
}

const link = 'text-accent-text underline'

/** The steps to set up a new gateway, and which of them are done. */
export function Checklist() {
  const again = { refetchInterval: LOOK_AGAIN_MS }
  const providers = useAll('/api/v1/admin/providers', {}, again).data?.items
  const models = useAll('/api/v1/admin/models', {}, again).data?.items
  const keys = useGet('/api/v1/admin/api-keys', { query: { ...one, status: 'active' } }, again)
  const calls = useGet('/api/v1/admin/observability/request-logs', { query: one }, again)
  const budgets = useGet(
    '/api/v1/admin/spend/budgets',
    { query: { ...one, status: 'active' } },
    again,
  )
  const hooks = useGet(
    '/api/v1/admin/guardrails/decisions',
    { query: { ...one, phase: 'harness_pre_tool' } },
    again,
  )
  const real = providers?.filter(({ type }) => type !== 'simulator')
  const served = new Set(
    models?.flatMap(({ routes }) => routes.filter((r) => r.enabled).map((r) => r.provider_key)),
  )
  const some = (data: { readonly total: number } | undefined) => data && data.total > 0
  const steps: readonly Step[] = [
    {
      label: 'Add a provider',
      done: real && real.length > 0,
      how: (
        <>
          <Link to="/models" className={link}>
            Add one
          </Link>{' '}
          with its API key, or start the gateway with an environment variable such as{' '}
          <code className="font-mono">OPENAI_API_KEY</code>.
        </>
      ),
    },
    {
      label: 'Add a model',
      done: real && models && real.some(({ provider_key }) => served.has(provider_key)),
      how: (
        <>
          <Link to="/models" className={link}>
            Add one
          </Link>{' '}
          that routes to the provider. <code className="font-mono">*</code> serves all of the
          provider’s models.
        </>
      ),
    },
    { label: 'Create an API key', done: some(keys.data), how: 'Create one for yourself below.' },
    {
      label: 'Make a first call',
      done: some(calls.data),
      how: (
        <>
          Run one of the examples below, or use the{' '}
          <Link to="/playground" className={link}>
            playground
          </Link>
          .
        </>
      ),
    },
    {
      label: 'Set a budget',
      done: some(budgets.data),
      how: (
        <>
          <Link to="/budgets" className={link}>
            Limit
          </Link>{' '}
          what a user can spend per day, week or month.
        </>
      ),
    },
    {
      label: 'Install a guard hook',
      done: some(hooks.data),
      how: (
        <>
          <code className="font-mono">gateway guard install</code> makes a coding agent ask the{' '}
          <Link to="/guardrails" className={link}>
            guardrails
          </Link>{' '}
          before it uses a tool.
        </>
      ),
    },
  ]
  const count = steps.filter(({ done }) => done).length
  return (
    <Card title="Getting started" note={`${count} of ${steps.length} done`}>
      <ol className="grid gap-3 md:grid-cols-2 xl:grid-cols-3">
        {steps.map(({ label, done, how }) => (
          <li key={label} className="flex items-start gap-2">
            {done ? (
              <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
            ) : (
              <Circle aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
            )}
            <div className="min-w-0">
              <p className={cx('font-medium', done && 'text-muted')}>
                {label}
                <span className={done ? undefined : 'sr-only'}>
                  {done === undefined ? ': …' : done ? ': done' : ': to do'}
                </span>
              </p>
              {!done && <p className="text-muted">{how}</p>}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}
