import type { ReactNode } from 'react'
import { cx } from '@/lib/cx.ts'
import { CopyButton } from '@/ui/copy-button.tsx'

export interface FactProps {
  readonly label: string
  /** Takes the room of two where there are columns. */
  readonly wide?: boolean
  readonly children: ReactNode
}

/** Something that is known of a thing, in a `<dl>`. */
export function Fact({ label, wide = false, children }: FactProps) {
  return (
    <div className={cx('min-w-0', wide && 'lg:col-span-2')}>
      <dt className="text-xs text-muted">{label}</dt>
      <dd className="[overflow-wrap:anywhere]">{children}</dd>
    </div>
  )
}

/** An id or an address that can be copied; `label` says so. */
export function Id({ id, label }: { id: string; label: string }) {
  return (
    <span className="flex min-w-0 items-center gap-1">
      <code className="truncate font-mono text-xs" title={id}>
        {id}
      </code>
      <CopyButton text={id} label={label} />
    </span>
  )
}
