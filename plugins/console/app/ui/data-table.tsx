import {
  createSortedRowModel,
  type RowData,
  rowSortingFeature,
  type SortingState,
  sortFns,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { cx } from '@/lib/cx.ts'
import { copyRows } from '@/ui/copy-rows.ts'

export interface Column<T> {
  readonly key: string
  readonly header: string
  readonly cell: (row: T) => ReactNode
  /** The value to sort by; without it the column is not sortable. */
  readonly sort?: (row: T) => string | number
  /** A share of the width (`2fr`) or a length (`7rem`). Default `1fr`. */
  readonly width?: string
  readonly align?: 'left' | 'right'
}

export interface DataTableProps<T extends RowData> {
  readonly label: string
  /** Must be stable between renders: declared outside the component, or memoised. */
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowKey: (row: T) => string
  /** Opens a row. Rows can then be reached with the keyboard. */
  readonly onOpen?: (row: T) => void
  /** Shown when the table has no rows. */
  readonly empty?: ReactNode
  /** The page of a paged list; a change scrolls the table to its top. */
  readonly page?: number
  /** The rows are one page of a longer list: the table says that it sorts this page only. */
  readonly part?: boolean
  /** Maximum height in pixels before the table scrolls. Default 560. */
  readonly maxHeight?: number
  /** Minimum width in pixels; in less space the table scrolls horizontally. Default 720. */
  readonly minWidth?: number
}

const ROW = 36
const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns,
})

/** A table of any number of rows that renders only the visible ones. */
export function DataTable<T extends RowData>(props: DataTableProps<T>) {
  const { label, columns, rows, rowKey, onOpen, empty, page, part = false } = props
  const { maxHeight = 560, minWidth = 720 } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [sorting, setSorting] = useState<SortingState>([])
  const definitions = useMemo(
    () =>
      columns.map((column) => ({
        id: column.key,
        accessorFn: (row: T) => column.sort?.(row) ?? '',
        enableSorting: column.sort !== undefined,
        sortFn: 'basic' as const,
      })),
    [columns],
  )
  const table = useTable({
    features,
    columns: definitions,
    data: rows,
    state: { sorting },
    onSortingChange: setSorting,
  })
  const sorted = table.getRowModel().rows
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is another page that counts
  useEffect(() => void scroller.current?.scrollTo({ top: 0 }), [page])
  const grid = { gridTemplateColumns: columns.map(({ width = '1fr' }) => fit(width)).join(' ') }
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>
  const body = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
    <div ref={scroller} className="relative overflow-auto" style={{ maxHeight }} tabIndex={0}>
      {/* biome-ignore-start lint/a11y/useSemanticElements: rows that are not on the page leave gaps that a table element cannot have */}
      {/* biome-ignore-start lint/a11y/useFocusableInteractive: rows and headers of a read-only table are not controls */}
      <div
        role="table"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        style={{ minWidth }}
        onCopy={copyRows}
      >
        <div
          role="row"
          aria-rowindex={1}
          style={grid}
          className="sticky top-0 z-10 grid h-8 items-center border-b border-line bg-panel"
        >
          {columns.map((column) => {
            const state = table.getColumn(column.key)?.getIsSorted() ?? false
            return (
              <div
                key={column.key}
                role="columnheader"
                aria-sort={state === false ? 'none' : state === 'asc' ? 'ascending' : 'descending'}
                className={cx(cellStyle, 'text-xs font-medium text-muted', side(column))}
              >
                {column.sort === undefined ? (
                  column.header
                ) : (
                  <button
                    type="button"
                    className="inline-flex items-center gap-1 hover:text-ink"
                    onClick={table.getColumn(column.key)?.getToggleSortingHandler()}
                  >
                    {column.header}
                    {state === 'asc' && <ArrowUp aria-hidden className="size-3" />}
                    {state === 'desc' && <ArrowDown aria-hidden className="size-3" />}
                  </button>
                )}
              </div>
            )
          })}
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = (sorted[index] as (typeof sorted)[number]).original
            return (
              <div
                key={rowKey(row)}
                role="row"
                aria-rowindex={index + 2}
                tabIndex={onOpen === undefined ? undefined : 0}
                style={{ ...grid, height: ROW, transform: `translateY(${start}px)` }}
                className={cx(
                  'absolute inset-x-0 top-0 grid items-center border-b border-line hover:bg-raised/60',
                  onOpen !== undefined && 'cursor-pointer focus-visible:-outline-offset-2',
                )}
                onClick={() => {
                  // A click that ends a text selection is for copying, not for opening the row.
                  if (document.getSelection()?.type !== 'Range') onOpen?.(row)
                }}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || event.target !== event.currentTarget) return
                  // Otherwise the same key press also activates the focused element of what opens.
                  event.preventDefault()
                  onOpen?.(row)
                }}
              >
                {columns.map((column) => (
                  <div key={column.key} role="cell" className={cx(cellStyle, side(column))}>
                    {column.cell(row)}
                  </div>
                ))}
              </div>
            )
          })}
        </div>
      </div>
      {/* biome-ignore-end lint/a11y/useFocusableInteractive: see above */}
      {/* biome-ignore-end lint/a11y/useSemanticElements: see above */}
    </div>
  )
  return (
    <>
      {body}
      {part && sorting.length > 0 && (
        <p role="status" className="px-4 py-1.5 text-xs text-muted">
          Sorted within this page
        </p>
      )}
    </>
  )
}

const cellStyle = 'min-w-0 truncate px-3 first:pl-4 last:pr-4'

function side({ align }: Pick<Column<never>, 'align'>): string {
  return align === 'right' ? 'text-right' : ''
}

/** `minmax(0, …)`, because a plain `fr` column grows with its content. */
function fit(width: string): string {
  return width.endsWith('fr') ? `minmax(0, ${width})` : width
}
