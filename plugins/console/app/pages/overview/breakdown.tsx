import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { count, duration, percent, shareOf, short, usd, usdExact } from '@/lib/format.ts'
import type { Overview } from '@/pages/overview/totals.tsx'
import { requestsOf } from '@/pages/spend/query.ts'
import { Card } from '@/ui/card.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'
import { Tabs } from '@/ui/tabs.tsx'

interface Row {
  readonly key: string
  readonly name: string
  /** Filters for the requests behind the row; absent: no filter matches exactly these. */
  readonly search?: Readonly<Record<string, string>>
  readonly sum: Pick<
    Overview['models'][number],
    | 'request_count'
    | 'error_count'
    | 'spend_usd'
    | 'total_tokens'
    | 'latency_p50_ms'
    | 'latency_p95_ms'
  >
}

const tabs = [
  { key: 'models', label: 'Models' },
  { key: 'providers', label: 'Providers' },
  { key: 'owners', label: 'Owners' },
] as const
type Facet = (typeof tabs)[number]['key']

const SHOWN = 12

const rowsOf: Readonly<Record<Facet, (overview: Overview) => readonly Row[]>> = {
  models: ({ models }) =>
    models.map((sum) =>
      sum.model_key === null
        ? { key: '', name: 'no model', sum }
        : { key: sum.model_key, name: sum.model_key, search: { model_key: sum.model_key }, sum },
    ),
  providers: ({ providers }) =>
    providers.map((sum) =>
      sum.provider_key === null
        ? { key: '', name: 'no provider', sum }
        : {
            key: sum.provider_key,
            name: sum.provider_key,
            search: { provider_key: sum.provider_key },
            sum,
          },
    ),
  owners: ({ owners }) =>
    owners.map((sum) =>
      sum.owner_id === null
        ? { key: '', name: 'All others', sum }
        : {
            key: `${sum.owner_kind}:${sum.owner_id}`,
            name: sum.owner_name ?? 'deleted owner',
            search: { [`${sum.owner_kind}_id`]: sum.owner_id },
            sum,
          },
    ),
}

/** The same sums by model, provider and owner, with links to their requests. */
export function Breakdown({ overview }: { overview: Overview }) {
  const [facet, setFacet] = useState<Facet>('models')
  const [all, setAll] = useState(false)
  const rows = rowsOf[facet](overview)
  const total = Number(overview.totals.spend_usd)
  const label = tabs.find(({ key }) => key === facet)?.label ?? ''
  return (
    <Card padded={false} aria-label="Breakdown">
      <div className="px-4 pt-1">
        <Tabs label="Breakdown" tabs={tabs} value={facet} onChange={setFacet}>
          <div className="-mx-4">
            <Table aria-label={label}>
              <thead>
                <tr>
                  <Th>{label.slice(0, -1)}</Th>
                  <Th className="text-right">Spend</Th>
                  <Th className="w-40">Share</Th>
                  <Th className="text-right">Requests</Th>
                  <Th className="text-right">Errors</Th>
                  <Th className="text-right">Tokens</Th>
                  <Th className="text-right">Latency p50</Th>
                  <Th className="text-right">Latency p95</Th>
                </tr>
              </thead>
              <tbody>
                {rows.slice(0, all ? undefined : SHOWN).map((row) => (
                  <BreakdownRow key={row.key} row={row} total={total} window={overview} />
                ))}
              </tbody>
            </Table>
            {rows.length > SHOWN && (
              <button
                type="button"
                className="w-full border-t border-line py-2 text-muted hover:text-ink"
                onClick={() => setAll(!all)}
              >
                {all ? 'Show fewer' : `Show all ${rows.length}`}
              </button>
            )}
          </div>
        </Tabs>
      </div>
    </Card>
  )
}

interface BreakdownRowProps {
  readonly row: Row
  readonly total: number
  /** The time range of the overview. */
  readonly window: Pick<Overview, 'window_start' | 'window_end'>
}

function BreakdownRow({ row: { name, search, sum }, total, window }: BreakdownRowProps) {
  const share = shareOf(Number(sum.spend_usd), total)
  return (
    <Tr>
      <Td className="max-w-72 truncate font-medium">
        {search === undefined ? (
          <span className="text-muted">{name}</span>
        ) : (
          <Link
            to="/requests"
            search={requestsOf(window, search)}
            className="hover:text-accent-text hover:underline"
          >
            {name}
          </Link>
        )}
      </Td>
      <Td className="text-right" title={usdExact(sum.spend_usd)}>
        {usd(sum.spend_usd)}
      </Td>
      <Td>
        <span className="flex items-center gap-2">
          <span aria-hidden className="h-1.5 flex-1 overflow-hidden rounded-full bg-raised">
            <span
              className="block h-full rounded-full bg-accent"
              style={{ width: `${share * 100}%` }}
            />
          </span>
          <span className="w-14 shrink-0 text-right text-xs whitespace-nowrap text-muted">
            {percent(share)}
          </span>
        </span>
      </Td>
      <Td className="text-right">{count(sum.request_count)}</Td>
      <Td className="text-right">
        {count(sum.error_count)}{' '}
        <span className="text-muted">{percent(shareOf(sum.error_count, sum.request_count))}</span>
      </Td>
      <Td className="text-right" title={count(sum.total_tokens)}>
        {short(sum.total_tokens)}
      </Td>
      <Td className="text-right">{duration(sum.latency_p50_ms)}</Td>
      <Td className="text-right">{duration(sum.latency_p95_ms)}</Td>
    </Tr>
  )
}
