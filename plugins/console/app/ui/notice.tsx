import { Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { cx } from '@/lib/cx.ts'

export interface NoticeProps {
  readonly tone?: 'info' | 'warn'
  readonly title: ReactNode
  readonly children?: ReactNode
  readonly action?: ReactNode
}

/** A message with an optional action. */
export function Notice({ tone = 'info', title, children, action }: NoticeProps) {
  const Icon = tone === 'warn' ? TriangleAlert : Info
  return (
    <div
      role="status"
      className={cx(
        'flex flex-wrap items-start gap-2.5 rounded-lg border px-4 py-3',
        tone === 'warn'
          ? 'border-warn/30 bg-warn-soft text-warn'
          : 'border-accent/30 bg-accent-soft text-accent-text',
      )}
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-48 flex-1">
        <p className="font-medium">{title}</p>
        {children !== undefined && <div className="mt-0.5 text-ink">{children}</div>}
      </div>
      {action}
    </div>
  )
}

export interface EmptyStateProps {
  readonly title: string
  /** What to do next. */
  readonly children?: ReactNode
  readonly action?: ReactNode
}

/** The empty state of a list: what will appear here and what to do for it. */
export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className="grid justify-items-center gap-1 px-6 py-10 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-prose text-muted">{children}</div>}
      {action !== undefined && <div className="mt-2">{action}</div>}
    </div>
  )
}

/** A grey placeholder for content that is loading. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cx('animate-pulse rounded bg-raised', className)} />
}
