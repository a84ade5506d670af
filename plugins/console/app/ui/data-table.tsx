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
  /** What it is sorted by; without it, it is not. */
  readonly sort?: (row: T) => string | number
  /** A share of the width (`2fr`) or a length (`7rem`). Default `1fr`. */
  readonly width?: string
  readonly align?: 'left' | 'right'
}

export interface DataTableProps<T extends RowData> {
  readonly label: string
  /** Stable between renders: outside of the component, or memoised. */
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowKey: (row: T) => string
  /** Opens a row; it can be reached with keys then. */
  readonly onOpen?: (row: T) => void
  /** Instead of rows, when there are none. */
  readonly empty?: ReactNode
  /** Of a list that is given in pages: another page begins at its top. */
  readonly page?: number
  /** The rows are not the whole list, so that only they are sorted: it says so. */
  readonly part?: boolean
  /** Most pixels that it takes up before it scrolls. Default 560. */
  readonly maxHeight?: number
  /** Below this width, in pixels, it scrolls sideways. Default 720. */
  readonly minWidth?: number
}

const ROW = 36
const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns,
})

/** A table of any number of rows, of which only the visible ones are on the page. */
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has only keys must be able to scroll it
    <div ref={scroller} className="relative overflow-auto" style={{ maxHeight }} tabIndex={0}>
      {/* biome-ignore-start lint/a11y/useSemanticElements: rows that are not on the page leave gaps that a table element cannot have */}
      {/* biome-ignore-start lint/a11y/useFocusableInteractive: rows and headers of a table for reading are no controls */}
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
                  // Who selects a text of the row wants to copy it.
                  if (document.getSelection()?.type !== 'Range') onOpen?.(row)
                }}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || event.target !== event.currentTarget) return
                  // Else the same key presses what has the focus in what was opened.
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

/** A share must not grow with its content. */
function fit(width: string): string {
  return width.endsWith('fr') ? `minmax(0, ${width})` : width
}
