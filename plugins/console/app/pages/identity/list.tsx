import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { type Column, DataTable } from '@/ui/data-table.tsx'
import { Input } from '@/ui/field.tsx'
import { Filters } from '@/ui/filters.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Loaded, Page } from '@/ui/page.tsx'
import { Pagination } from '@/ui/pagination.tsx'

export const PAGE_SIZE = 200

interface Listed<T> {
  readonly items: readonly T[]
  readonly total: number
}

export interface IdentityListProps<T> {
  readonly title: string
  readonly note: string
  /** On the button that makes one. */
  readonly action: string
  readonly onNew: () => void
  readonly search: string
  readonly searchLabel: string
  readonly onSearch: (text: string) => void
  /** Further filters. */
  readonly filters?: ReactNode
  /** Whether any filter narrows the list, and the way back. */
  readonly narrowed: boolean
  readonly onClear: () => void
  readonly query: { data: Listed<T> | undefined; error: Error | null; refetch: () => unknown }
  readonly columns: readonly Column<T>[]
  readonly rowKey: (row: T) => string
  readonly onOpen: (row: T) => void
  readonly page: number
  readonly onPage: (page: number) => void
  /** What would be here, and how it gets here. */
  readonly empty: ReactNode
  readonly minWidth?: number
  /** Sheets and dialogs. */
  readonly children: ReactNode
}

/** The page of a kind of people, programs or keys: search, filters, a table, and what opens. */
export function IdentityList<T extends object>(props: IdentityListProps<T>) {
  const { title, search, searchLabel, query, page, narrowed } = props
  return (
    <Page
      title={title}
      note={props.note}
      actions={
        <Button kind="primary" onClick={props.onNew}>
          <Plus aria-hidden />
          {props.action}
        </Button>
      }
    >
      <Filters narrowed={narrowed} onClear={props.onClear}>
        <Input
          type="search"
          aria-label={searchLabel}
          placeholder={searchLabel}
          maxLength={200}
          className="w-64 max-sm:col-span-2"
          value={search}
          onChange={({ target }) => props.onSearch(target.value)}
        />
        {props.filters}
      </Filters>
      <Loaded query={query}>
        {(data) => (
          <Card padded={false} aria-label={title}>
            <DataTable
              label={title}
              columns={props.columns}
              rows={data.items}
              rowKey={props.rowKey}
              onOpen={props.onOpen}
              minWidth={props.minWidth ?? 860}
              empty={
                narrowed ? (
                  <EmptyState
                    title="Nothing matches"
                    action={<Button onClick={props.onClear}>Clear the filters</Button>}
                  >
                    Take a filter away, or search for less.
                  </EmptyState>
                ) : (
                  props.empty
                )
              }
            />
            {data.total > 0 && (
              <Pagination
                page={page}
                pageSize={PAGE_SIZE}
                total={data.total}
                onPage={props.onPage}
              />
            )}
          </Card>
        )}
      </Loaded>
      {props.children}
    </Page>
  )
}

type ListPath =
  | '/identity/users'
  | '/identity/teams'
  | '/identity/service-accounts'
  | '/identity/api-keys'

/** Opens one of a list beside it, and closes it again; filters stay. */
export function useOpen(path: ListPath): (id?: string) => void {
  const navigate = useNavigate()
  return (id) =>
    void navigate({
      to: (id === undefined ? path : `${path}/${id}`) as '/identity/users',
      search: true,
    })
}
