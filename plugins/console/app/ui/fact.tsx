import type { ReactNode } from 'react'
import { cx } from '@/lib/cx.ts'
import { CopyButton } from '@/ui/copy-button.tsx'

export interface FactProps {
  readonly label: string
  /** Spans two columns. */
  readonly wide?: boolean
  readonly children: ReactNode
}

/** A label with its value, in a `<dl>`. */
export function Fact({ label, wide = false, children }: FactProps) {
  return (
    <div className={cx('min-w-0', wide && 'lg:col-span-2')}>
      <dt className="text-xs text-muted">{label}</dt>
      <dd className="[overflow-wrap:anywhere]">{children}</dd>
    </div>
  )
}

/** An ID or an address with a copy button; `label` names the button. */
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
