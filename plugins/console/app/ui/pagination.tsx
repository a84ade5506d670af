import { ChevronLeft, ChevronRight } from 'lucide-react'
import { count } from '@/lib/format.ts'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'

export interface PaginationProps {
  readonly page: number
  readonly pageSize: number
  readonly total: number
  /** false: there are that many at least. */
  readonly exact?: boolean
  readonly onPage: (page: number) => void
}

/** Under a list that the gateway gives in pages. */
export function Pagination({ page, pageSize, total, exact = true, onPage }: PaginationProps) {
  const last = Math.max(1, Math.ceil(total / pageSize))
  const from = total === 0 ? 0 : (page - 1) * pageSize + 1
  // They stay where the focus is when there is no further page.
  const step = (to: number, there: boolean) => ({
    'aria-disabled': !there,
    onClick: () => there && onPage(to),
  })
  return (
    <>
      {!exact && page >= last && (
        <Notice title="There are more than can be paged through">
          Choose a range of time that ends with the last row here to go on.
        </Notice>
      )}
      <nav
        aria-label="Pages of the list"
        className="flex items-center justify-between gap-3 border-t border-line px-4 py-2"
      >
        <span className="text-xs text-muted">
          {page > last
            ? `Nothing on page ${count(page)}; the last is ${count(last)}`
            : `${count(from)} – ${count(Math.min(total, page * pageSize))} of ${count(total)}`}
          {!exact && ' or more'}
        </span>
        <span className="flex gap-1 print:hidden">
          <Button
            size="sm"
            aria-label="Previous page"
            {...step(Math.min(page - 1, last), page > 1)}
          >
            <ChevronLeft />
          </Button>
          <Button size="sm" aria-label="Next page" {...step(page + 1, page < last)}>
            <ChevronRight />
          </Button>
        </span>
      </nav>
    </>
  )
}
