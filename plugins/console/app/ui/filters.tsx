import type { ReactNode } from 'react'
import { Button } from '@/ui/button.tsx'

/** Filters side by side; on a narrow window two in a row, as wide as each other. */
export const filterRow = 'grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap max-sm:*:w-full'

export interface FiltersProps {
  /** Whether any of them is set. */
  readonly narrowed: boolean
  readonly onClear: () => void
  readonly children: ReactNode
  /** A second row. */
  readonly more?: ReactNode
}

/** What a list can be narrowed by, and the way back to all of it. */
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
