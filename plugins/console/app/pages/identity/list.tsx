import { useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { Filters } from '@/ui/filters.tsx'
import { Page } from '@/ui/page.tsx'
import { PagedTable, type PagedTableProps } from '@/ui/paged-table.tsx'
import { SearchInput } from '@/ui/search-input.tsx'

export const PAGE_SIZE = 200

export interface IdentityListProps<T extends object>
  extends Pick<PagedTableProps<T>, 'query' | 'columns' | 'rowKey' | 'empty' | 'minWidth'> {
  readonly title: string
  readonly note: string
  /** The label of the button that creates an item. */
  readonly action: string
  readonly onNew: () => void
  readonly searchLabel: string
  /** All filters of the page. */
  readonly values: { readonly search: string }
  readonly change: (changes: { readonly search?: string; readonly page?: number }) => void
  /** Further filters. */
  readonly filters?: ReactNode
  /** Receives the `rowKey` of the row. */
  readonly onOpen: (id: string) => void
  /** Whether any filter is set. */
  readonly narrowed: boolean
  readonly onClear: () => void
  /** Sheets and dialogs. */
  readonly children: ReactNode
}

/**
 * A list page of users, teams, service accounts or keys: search, filters, a table and its dialogs.
 */
export function IdentityList<T extends object>(props: IdentityListProps<T>) {
  const { title, searchLabel, values, change, query, rowKey, narrowed } = props
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
        <SearchInput
          label={searchLabel}
          placeholder={searchLabel}
          className="w-64 max-sm:col-span-2"
          value={values.search}
          onChange={(search) => change({ search })}
        />
        {props.filters}
      </Filters>
      <PagedTable
        query={query}
        label={title}
        columns={props.columns}
        rowKey={rowKey}
        onOpen={(row) => props.onOpen(rowKey(row))}
        minWidth={props.minWidth ?? 860}
        onPage={(page) => change({ page })}
        filtered={
          narrowed
            ? {
                title: 'No matches',
                hint: 'Remove a filter or shorten the search.',
                onClear: props.onClear,
              }
            : undefined
        }
        empty={props.empty}
        frame={(list) => (
          <Card padded={false} aria-label={title}>
            {list}
          </Card>
        )}
      />
      {props.children}
    </Page>
  )
}

type ListPath =
  | '/identity/users'
  | '/identity/teams'
  | '/identity/service-accounts'
  | '/identity/api-keys'

/** Opens the sheet of an item, or closes it; filters are kept. */
export function useOpen(path: ListPath): (id?: string) => void {
  const navigate = useNavigate()
  return (id) =>
    void navigate({
      to: (id === undefined ? path : `${path}/${id}`) as '/identity/users',
      search: true,
      // The back button does not reopen a closed sheet.
      replace: id === undefined,
    })
}
