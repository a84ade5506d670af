import type { ComponentProps } from 'react'
import { cx } from '@/lib/cx.ts'

/** A plain table for a few rows; use DataTable for sorting or many rows. */
export function Table({ className, ...rest }: ComponentProps<'table'>) {
  return (
    // `relative`, so that visually hidden texts inside are positioned by it and do not widen the
    // page.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
    <section className="relative overflow-x-auto" tabIndex={0} aria-label={rest['aria-label']}>
      <table className={cx('w-full border-collapse text-left', className)} {...rest} />
    </section>
  )
}

/** For the last cell of a row with long texts: it takes the remaining width and truncates. */
export const restStyle = 'w-full min-w-48 max-w-0 truncate'

export function Th({ className, ...rest }: ComponentProps<'th'>) {
  return (
    <th
      scope="col"
      className={cx(
        'h-8 border-b border-line px-3 text-xs font-medium whitespace-nowrap text-muted first:pl-4 last:pr-4',
        className,
      )}
      {...rest}
    />
  )
}

export function Td({ className, ...rest }: ComponentProps<'td'>) {
  return (
    <td
      className={cx(
        'h-9 border-b border-line px-3 py-1 whitespace-nowrap first:pl-4 last:pr-4',
        className,
      )}
      {...rest}
    />
  )
}

export function Tr({ className, ...rest }: ComponentProps<'tr'>) {
  return (
    <tr className={cx('hover:bg-raised/60 [&:last-child>td]:border-b-0', className)} {...rest} />
  )
}
