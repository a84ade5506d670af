import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type Data, useAll } from '@/api/query.ts'
import { text, useFilters, useSubPath } from '@/lib/filters.ts'
import { NOT_KNOWN } from '@/lib/format.ts'
import { Health, useRecentAttempts } from '@/pages/models/health.tsx'
import { LogPolicy } from '@/pages/models/log-policy.tsx'
import { AddButtons, ManagedFile } from '@/pages/models/managed.tsx'
import { ModelSheet } from '@/pages/models/model-sheet.tsx'
import { PriceLine } from '@/pages/models/price.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Card } from '@/ui/card.tsx'
import { type Column, DataTable } from '@/ui/data-table.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded, Page } from '@/ui/page.tsx'
import { SearchInput } from '@/ui/search-input.tsx'

export type Model = Data<'/api/v1/admin/models'>['items'][number]
export type Route = Model['routes'][number]

const filters = { search: text }
const keep = (search: Readonly<Record<string, string>>) => search

/** The models, with their routes and prices. */
export default function Models() {
  const [{ search }, change] = useFilters(filters)
  // Model names may contain slashes, so join all segments.
  const chosen = useSubPath().join('/')
  const navigate = useNavigate()
  const query = useAll('/api/v1/admin/models', {})
  const recent = useRecentAttempts()
  const attempts = recent.data?.items
  const columns = useMemo(
    (): readonly Column<Model>[] => [
      {
        key: 'model',
        header: 'Model',
        width: '1.1fr',
        sort: ({ model_key }) => model_key,
        cell: ({ model_key, description }) => (
          <span title={description ?? undefined} className="font-medium">
            {model_key} {model_key.includes('*') && <Badge>wildcard</Badge>}
          </span>
        ),
      },
      {
        key: 'to',
        header: 'Routes to',
        width: '1.4fr',
        cell: (model) => <Target model={model} />,
      },
      {
        key: 'tags',
        header: 'Tags',
        width: '0.7fr',
        cell: ({ tags }) => tags.join(', ') || 'none',
      },
      {
        key: 'price',
        header: 'Price per million tokens',
        width: '1.2fr',
        cell: ({ model_key, routes }) => {
          if (model_key.includes('*')) return <span className="text-muted">per model</span>
          const first = routes.find(({ enabled }) => enabled)
          return first === undefined ? NOT_KNOWN : <PriceLine price={first.price} />
        },
      },
      {
        key: 'health',
        header: 'Last 15 minutes',
        width: '2.4fr',
        cell: ({ model_key, alias_of }) =>
          alias_of === null && (
            <Health items={attempts?.filter((item) => item.model_key === model_key)} />
          ),
      },
    ],
    [attempts],
  )
  return (
    <Page
      title="Models"
      note="From the config file and the console"
      actions={
        <>
          <SearchInput
            label="Search models"
            placeholder="Model, tag or provider"
            className="w-60"
            value={search}
            onChange={(next) => change({ search: next })}
          />
          <AddButtons />
        </>
      }
    >
      {recent.error !== null && <ErrorPanel error={recent.error} />}
      <Loaded query={query}>
        {(data) => (
          <Card padded={false}>
            <DataTable
              label="Models"
              columns={columns}
              rows={data.items.filter((model) => matches(model, search))}
              rowKey={({ model_key }) => model_key}
              minWidth={900}
              onOpen={({ model_key }) =>
                void navigate({ to: `/models/${encodeURIComponent(model_key)}`, search: keep })
              }
              empty={
                <EmptyState title={search === '' ? 'No models' : 'No matching models'}>
                  {search === ''
                    ? 'Add a provider and a model here, or under models in the config file.'
                    : 'Search by model name, tag or provider.'}
                </EmptyState>
              }
            />
            <ModelSheet
              name={chosen}
              model={data.items.find(({ model_key }) => model_key === chosen)}
              attempts={attempts}
              onClose={() => void navigate({ to: '/models', search: keep, replace: true })}
            />
          </Card>
        )}
      </Loaded>
      <ManagedFile />
      <LogPolicy />
    </Page>
  )
}

function Target({ model: { alias_of, routes } }: { model: Model }) {
  if (alias_of !== null) {
    return (
      <span>
        <Badge>alias</Badge> of {alias_of}
      </span>
    )
  }
  const enabled = routes.filter((route) => route.enabled)
  const [first] = enabled
  if (first === undefined) return <Badge tone="warn">no enabled route</Badge>
  const more = enabled.length - 1
  return (
    <span>
      {first.provider_key} <span className="text-muted">{first.upstream_model}</span>
      {more > 0 && <span className="text-muted"> and {more} more</span>}
    </span>
  )
}

function matches({ model_key, tags, routes, alias_of }: Model, search: string): boolean {
  const words = [model_key, alias_of ?? '', ...tags, ...routes.map((route) => route.provider_key)]
  return words.some((word) => word.toLowerCase().includes(search.trim().toLowerCase()))
}
