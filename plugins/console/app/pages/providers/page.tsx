import { Link } from '@tanstack/react-router'
import { type Data, useAll, useGet } from '@/api/query.ts'
import { page as pageFilter, useFilters } from '@/lib/filters.ts'
import { count, duration, NOT_KNOWN } from '@/lib/format.ts'
import { Health, LastError, type Recent, useRecentAttempts } from '@/pages/models/health.tsx'
import { LiveCheck } from '@/pages/models/live-check.tsx'
import { AddButtons, RemoveButton } from '@/pages/models/managed.tsx'
import type { Model } from '@/pages/models/page.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Card } from '@/ui/card.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded, Page } from '@/ui/page.tsx'
import { Pagination } from '@/ui/pagination.tsx'
import { restStyle, Table, Td, Th, Tr } from '@/ui/table.tsx'

type Provider = Data<'/api/v1/admin/providers'>['items'][number]

const filters = { page: pageFilter }
const PAGE_SIZE = 100

/** The providers, with their limits and recent attempts. */
export default function Providers() {
  const [{ page }, change] = useFilters(filters)
  const query = useGet('/api/v1/admin/providers', { query: { page, page_size: PAGE_SIZE } })
  const attempts = useRecentAttempts()
  const models = useAll('/api/v1/admin/models', {})
  return (
    <Page title="Providers" note="From the config file and the console" actions={<AddButtons />}>
      <Loaded query={query}>
        {(data) => (
          <Card title="Providers" padded={false}>
            {data.total === 0 ? (
              <EmptyState title="No providers">
                Add a provider here, or under providers in the config file, and a model that routes
                to it.
              </EmptyState>
            ) : (
              <ProviderTable
                providers={data.items}
                models={models.data?.items ?? []}
                attempts={attempts.data?.items}
              />
            )}
            {(data.total > PAGE_SIZE || page > 1) && (
              <Pagination
                page={page}
                pageSize={PAGE_SIZE}
                total={data.total}
                onPage={(next) => change({ page: next })}
              />
            )}
          </Card>
        )}
      </Loaded>
      <Card title="Attempts" note="last 15 minutes, by provider and model" padded={false}>
        <Loaded query={attempts}>{({ items }) => <RecentAttempts attempts={items} />}</Loaded>
      </Card>
    </Page>
  )
}

interface ProviderTableProps {
  readonly providers: readonly Provider[]
  readonly models: readonly Model[]
  readonly attempts: Recent | undefined
}

function ProviderTable({ providers, models, attempts }: ProviderTableProps) {
  return (
    <Table aria-label="Providers">
      <thead>
        <tr>
          <Th>Provider</Th>
          <Th>Type</Th>
          <Th>Last 15 minutes</Th>
          <Th>Price list</Th>
          <Th className="text-right">Total timeout</Th>
          <Th className="text-right">Idle timeout</Th>
          <Th>Models</Th>
          <Th>
            <span className="sr-only">Check or remove</span>
          </Th>
        </tr>
      </thead>
      <tbody>
        {providers.map((provider) => (
          <Tr key={provider.provider_key}>
            <Td className="max-w-56 truncate font-medium">
              <Link
                to="/requests"
                search={{ provider_key: provider.provider_key }}
                className="hover:text-accent-text hover:underline"
              >
                {provider.provider_key}
              </Link>
            </Td>
            <Td>{provider.type}</Td>
            <Td>
              <Health
                items={attempts?.filter((item) => item.provider_key === provider.provider_key)}
              />
            </Td>
            <Td>{provider.pricing_provider_id ?? <Badge tone="warn">none</Badge>}</Td>
            <Td className="text-right">{duration(provider.timeouts.total_ms)}</Td>
            <Td className="text-right">{duration(provider.timeouts.idle_ms)}</Td>
            <Td className={restStyle} title={provider.model_keys.join(', ')}>
              {provider.model_keys.length === 0 ? 'none' : provider.model_keys.join(', ')}
            </Td>
            <Td className="text-right">
              <span className="inline-flex gap-2">
                <LiveCheck
                  models={models.filter(({ model_key }) => provider.model_keys.includes(model_key))}
                />
                <RemoveButton what="provider" name={provider.provider_key} />
              </span>
            </Td>
          </Tr>
        ))}
      </tbody>
    </Table>
  )
}

function RecentAttempts({ attempts }: { attempts: Recent }) {
  if (attempts.length === 0) {
    return (
      <EmptyState title="No attempts in the last 15 minutes">
        The errors and latency of a provider appear here after its first request.
      </EmptyState>
    )
  }
  return (
    <Table aria-label="Attempts in the last 15 minutes">
      <thead>
        <tr>
          <Th>Provider</Th>
          <Th>Model</Th>
          <Th className="text-right">Attempts</Th>
          <Th className="text-right">Succeeded</Th>
          <Th className="text-right">Failed</Th>
          <Th className="text-right">Aborted</Th>
          <Th className="text-right">First byte p50</Th>
          <Th className="text-right">Latency p50</Th>
          <Th className="text-right">Latency p95</Th>
          <Th>Last error</Th>
        </tr>
      </thead>
      <tbody>
        {attempts.map((item) => (
          <Tr key={`${item.provider_key} ${item.model_key}`}>
            <Td className="max-w-40 truncate font-medium">{item.provider_key}</Td>
            <Td className="max-w-40 truncate">{item.model_key ?? NOT_KNOWN}</Td>
            <Td className="text-right">{count(item.attempt_count)}</Td>
            <Td className="text-right">{count(item.success_count)}</Td>
            <Td className="text-right">{count(item.error_count)}</Td>
            <Td className="text-right">{count(item.client_abort_count)}</Td>
            <Td className="text-right">{duration(item.first_byte_p50_ms)}</Td>
            <Td className="text-right">{duration(item.latency_p50_ms)}</Td>
            <Td className="text-right">{duration(item.latency_p95_ms)}</Td>
            <LastError item={item} />
          </Tr>
        ))}
      </tbody>
    </Table>
  )
}
