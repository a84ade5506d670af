import type { ReactNode } from 'react'
import { Button } from '@/ui/button.tsx'

/** A row of filters; in a narrow window two equal columns. */
export const filterRow = 'grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap max-sm:*:w-full'

export interface FiltersProps {
  /** Whether any of them is set. */
  readonly narrowed: boolean
  readonly onClear: () => void
  readonly children: ReactNode
  /** A second row. */
  readonly more?: ReactNode
}

/** The filters of a list, with a button that clears them. */
export function Filters({ narrowed, onClear, children, more }: FiltersProps) {
  return (
    <search aria-label="Filters" className="grid gap-2">
      <div className={filterRow}>
        {children}
        {narrowed && (
          <Button kind="ghost" onClick={onClear}>
            Clear all
          </Button>
        )}
      </div>
      {more}
    </search>
  )
}
