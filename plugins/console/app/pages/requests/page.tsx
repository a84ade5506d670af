import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { Radio } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useGet } from '@/api/query.ts'
import { isNarrowed, useFilters, useSubPath } from '@/lib/filters.ts'
import { columns } from '@/pages/requests/columns.tsx'
import { Detail } from '@/pages/requests/detail.tsx'
import { FilterBar } from '@/pages/requests/filter-bar.tsx'
import { Histogram } from '@/pages/requests/histogram.tsx'
import { cleared, filters, queryOf } from '@/pages/requests/query.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { EmptyState, Skeleton } from '@/ui/notice.tsx'
import { Page } from '@/ui/page.tsx'
import { PagedTable } from '@/ui/paged-table.tsx'

const PAGE_SIZE = 100
const TAIL_MS = 2000

/** Finished requests: a histogram, a list with filters, and a sheet for one request. */
export default function Requests() {
  const [values, change] = useFilters(filters)
  const [id] = useSubPath()
  const navigate = useNavigate()
  const searchStr = useLocation({ select: ({ searchStr }) => searchStr })
  const [scrolled, setScrolled] = useState(false)
  const selecting = useSelecting()
  const live = values.live === 'on'
  const paused = pauseOf({
    page: values.page,
    end: values.occurred_at_end,
    scrolled,
    id,
    selecting,
  })
  const query = queryOf(values)
  const list = useGet(
    '/api/v1/admin/observability/request-logs',
    { query: { ...query, page: values.page, page_size: PAGE_SIZE } },
    {
      placeholderData: (before) => before,
      refetchInterval: live && paused === undefined ? TAIL_MS : false,
    },
  )
  const search = Object.fromEntries(new URLSearchParams(searchStr))
  const open = (log: string | undefined) =>
    void navigate({
      to: log === undefined ? '/requests' : `/requests/${log}`,
      search,
      replace: log === undefined,
    })
  return (
    <Page
      title="Requests"
      note="Newest first"
      actions={
        <>
          {live && (
            <span role="status">
              {paused === undefined ? (
                <Badge tone="good">live</Badge>
              ) : (
                <Badge tone="warn">paused: {paused}</Badge>
              )}
            </span>
          )}
          <Button
            aria-pressed={live}
            className="aria-pressed:border-accent aria-pressed:text-accent-text"
            onClick={() => change({ live: live ? 'off' : 'on', page: values.page })}
          >
            <Radio aria-hidden />
            Live tail
          </Button>
        </>
      }
    >
      <FilterBar values={values} change={change} />
      <Histogram query={query} tail={live && paused === undefined} onRange={change} />
      <Card padded={false} aria-label="Requests">
        <div onScrollCapture={({ target }) => setScrolled((target as Element).scrollTop > 0)}>
          <PagedTable
            query={list}
            skeleton={<Skeleton className="m-4 h-96" />}
            label="Requests"
            columns={columns}
            rowKey={({ request_log_id }) => request_log_id}
            minWidth={1060}
            onOpen={({ request_log_id }) => open(request_log_id)}
            onPage={(page) => change({ page })}
            filtered={
              isNarrowed(values, cleared)
                ? {
                    title: 'No requests match these filters',
                    hint: 'Names must match exactly. Try a wider time range.',
                    onClear: () => change(cleared),
                  }
                : undefined
            }
            empty={
              <EmptyState title="No requests yet">
                Use an API key in a client, or try a model in the{' '}
                <Link to="/playground" className="text-accent-text underline">
                  playground
                </Link>
                . Each request appears here when it finishes.
              </EmptyState>
            }
          />
        </div>
      </Card>
      <Detail id={id} onClose={() => open(undefined)} />
    </Page>
  )
}

interface Watching {
  readonly page: number
  readonly end: string
  readonly scrolled: boolean
  readonly id: string | undefined
  readonly selecting: boolean
}

/** Why the live tail is paused; undefined: it runs. */
function pauseOf({ page, end, scrolled, id, selecting }: Watching): string | undefined {
  if (id !== undefined) return 'a request is open'
  if (selecting) return 'text is selected'
  if (scrolled) return 'scrolled down'
  if (page > 1) return 'not on the first page'
  return end === '' ? undefined : 'the time range has an end'
}

/** Whether text on the page is selected. */
function useSelecting(): boolean {
  const [selecting, setSelecting] = useState(false)
  useEffect(() => {
    const look = () => setSelecting(document.getSelection()?.type === 'Range')
    document.addEventListener('selectionchange', look)
    return () => document.removeEventListener('selectionchange', look)
  }, [])
  return selecting
}
