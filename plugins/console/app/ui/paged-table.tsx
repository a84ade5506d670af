import type { RowData } from '@tanstack/react-table'
import type { ReactNode } from 'react'
import { Button } from '@/ui/button.tsx'
import { DataTable, type DataTableProps } from '@/ui/data-table.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded, type LoadedProps } from '@/ui/page.tsx'
import { Pagination } from '@/ui/pagination.tsx'

/** One page of a list, as the API returns it. */
export interface ListPage<T> {
  readonly items: readonly T[]
  readonly page: number
  readonly page_size: number
  readonly total: number
  /** false: `total` is a lower bound. */
  readonly total_exact?: boolean
}

export interface PagedTableProps<T extends RowData>
  extends Omit<DataTableProps<T>, 'rows' | 'empty' | 'page' | 'part'>,
    Pick<LoadedProps<ListPage<T>>, 'query' | 'skeleton'> {
  readonly onPage: (page: number) => void
  /** The empty state: what will appear here and what to do for it. */
  readonly empty: ReactNode
  /** The empty state when filters match nothing; undefined: no filter is set. */
  readonly filtered: FilteredProps | undefined
  /** Wraps the table and its pagination once they are loaded. */
  readonly frame?: (list: ReactNode) => ReactNode
}

/** A paged list of the API, with its loading, error and empty states. */
export function PagedTable<T extends RowData>(props: PagedTableProps<T>) {
  const { query, skeleton, onPage, empty, filtered, frame = (list) => list, ...table } = props
  return (
    <Loaded query={query} skeleton={skeleton}>
      {(data) =>
        frame(
          <>
            <DataTable
              {...table}
              rows={data.items}
              page={data.page}
              part={data.total > data.items.length}
              empty={
                data.total > 0 ? undefined : filtered === undefined ? (
                  empty
                ) : (
                  <Filtered {...filtered} />
                )
              }
            />
            {data.total > 0 && (
              <Pagination
                page={data.page}
                pageSize={data.page_size}
                total={data.total}
                exact={data.total_exact ?? true}
                onPage={onPage}
              />
            )}
          </>,
        )
      }
    </Loaded>
  )
}

interface FilteredProps {
  readonly title: string
  /** A further hint. */
  readonly hint?: string
  readonly onClear: () => void
}

function Filtered({ title, hint, onClear }: FilteredProps) {
  return (
    <EmptyState title={title} action={<Button onClick={onClear}>Clear filters</Button>}>
      {hint}
    </EmptyState>
  )
}
