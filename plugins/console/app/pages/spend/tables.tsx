import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { count, counted, percent, shareOf, short, usd, usdExact } from '@/lib/format.ts'
import { type Report, requestsOf, type Sums } from '@/pages/spend/query.ts'
import { Card } from '@/ui/card.tsx'
import { type Column, DataTable } from '@/ui/data-table.tsx'
import { OwnerName } from '@/ui/owner-name.tsx'

const linkStyle = 'font-medium hover:text-accent-text hover:underline'

/** The columns of both tables. */
function sumColumns<T extends Sums>(total: number): readonly Column<T>[] {
  return [
    {
      key: 'spend',
      header: 'Spend',
      width: '6.5rem',
      align: 'right',
      sort: (row) => Number(row.spend_usd),
      cell: (row) => <span title={usdExact(row.spend_usd)}>{usd(row.spend_usd)}</span>,
    },
    {
      key: 'share',
      header: 'Share',
      width: '5rem',
      align: 'right',
      cell: (row) => (
        <span className="text-muted">{percent(shareOf(Number(row.spend_usd), total))}</span>
      ),
    },
    {
      key: 'requests',
      header: 'Requests',
      width: '6.25rem',
      align: 'right',
      sort: (row) => row.request_count,
      cell: (row) => count(row.request_count),
    },
    {
      key: 'input',
      header: 'Input',
      width: '5.25rem',
      align: 'right',
      sort: (row) => row.prompt_tokens,
      cell: (row) => <span title={count(row.prompt_tokens)}>{short(row.prompt_tokens)}</span>,
    },
    {
      key: 'output',
      header: 'Output',
      width: '5.5rem',
      align: 'right',
      sort: (row) => row.completion_tokens,
      cell: (row) => (
        <span title={count(row.completion_tokens)}>{short(row.completion_tokens)}</span>
      ),
    },
    {
      key: 'without',
      header: 'Without cost',
      width: '8rem',
      align: 'right',
      sort: (row) => row.unpriced_count + row.usage_missing_count,
      cell: (row) => count(row.unpriced_count + row.usage_missing_count),
    },
    {
      key: 'rejected',
      header: 'Rejected',
      width: '8rem',
      align: 'right',
      sort: (row) => Number(row.rejected_spend_usd),
      cell: (row) => (
        <span
          title={`${usdExact(row.rejected_spend_usd)} in ${counted(row.rejected_count, 'charge')}`}
        >
          {usd(row.rejected_spend_usd)}
        </span>
      ),
    },
  ]
}

type Model = Report['models'][number]
type Owner = Report['owners'][number]

export function Models({ report }: { report: Report }) {
  const { models, totals, window_start, window_end } = report
  const columns = useMemo(
    (): readonly Column<Model>[] => [
      {
        key: 'model',
        header: 'Model',
        width: '2fr',
        sort: ({ model_key }) => model_key,
        cell: ({ model_key, resolved_model_key }) => (
          <>
            <Link
              to="/requests"
              search={requestsOf({ window_start, window_end }, { model_key })}
              className={linkStyle}
            >
              {model_key}
            </Link>
            {resolved_model_key !== model_key && (
              <span className="text-muted"> → {resolved_model_key}</span>
            )}
          </>
        ),
      },
      ...sumColumns<Model>(Number(totals.spend_usd)),
    ],
    [totals.spend_usd, window_start, window_end],
  )
  return (
    <Card title="Models" note="by requested name, with token counts" padded={false}>
      <DataTable
        label="Models"
        columns={columns}
        rows={models}
        rowKey={({ model_key, resolved_model_key }) => `${model_key} ${resolved_model_key}`}
        maxHeight={400}
        minWidth={860}
      />
    </Card>
  )
}

export function Owners({ report }: { report: Report }) {
  const { owners, totals, window_start, window_end } = report
  const columns = useMemo(
    (): readonly Column<Owner>[] => [
      {
        key: 'owner',
        header: 'Owner',
        width: '2fr',
        sort: ({ owner_name }) => owner_name ?? '',
        cell: ({ owner_kind, owner_id, owner_name }) => (
          <OwnerName kind={owner_kind}>
            <Link
              to="/requests"
              search={requestsOf({ window_start, window_end }, { [`${owner_kind}_id`]: owner_id })}
              className={linkStyle}
            >
              {owner_name ?? 'deleted owner'}
            </Link>
          </OwnerName>
        ),
      },
      ...sumColumns<Owner>(Number(totals.spend_usd)),
    ],
    [totals.spend_usd, window_start, window_end],
  )
  return (
    <Card title="Owners" note={count(owners.length)} padded={false}>
      <DataTable
        label="Owners"
        columns={columns}
        rows={owners}
        rowKey={({ owner_kind, owner_id }) => `${owner_kind} ${owner_id}`}
        maxHeight={400}
        minWidth={980}
      />
    </Card>
  )
}
