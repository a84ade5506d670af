import { ChevronLeft, ChevronRight } from 'lucide-react'
import { count } from '@/lib/format.ts'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'

export interface PaginationProps {
  readonly page: number
  readonly pageSize: number
  readonly total: number
  /** false: `total` is a lower bound. */
  readonly exact?: boolean
  readonly onPage: (page: number) => void
}

/** The pagination below a list of the API. */
export function Pagination({ page, pageSize, total, exact = true, onPage }: PaginationProps) {
  const last = Math.max(1, Math.ceil(total / pageSize))
  const from = total === 0 ? 0 : (page - 1) * pageSize + 1
  // `aria-disabled`, because a disabled button would lose the focus on the last page.
  const step = (to: number, there: boolean) => ({
    'aria-disabled': !there,
    onClick: () => there && onPage(to),
  })
  return (
    <>
      {!exact && page >= last && (
        <Notice title="Too many results to page through">
          To see more, choose a time range that ends at the last row.
        </Notice>
      )}
      <nav
        aria-label="Pagination"
        className="flex items-center justify-between gap-3 border-t border-line px-4 py-2"
      >
        <span className="text-xs text-muted">
          {page > last
            ? `Page ${count(page)} is empty; the last page is ${count(last)}`
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
