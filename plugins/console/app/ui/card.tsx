import type { ComponentProps, ReactNode } from 'react'
import { cx } from '@/lib/cx.ts'

export interface CardProps extends Omit<ComponentProps<'section'>, 'title'> {
  readonly title?: ReactNode
  /** Small text next to the title. */
  readonly note?: ReactNode
  /** Buttons to the right of the title. */
  readonly actions?: ReactNode
  /** Padding around the content; false for tables. Default true. */
  readonly padded?: boolean
}

/** A panel with a heading. */
export function Card({
  title,
  note,
  actions,
  padded = true,
  className,
  children,
  ...rest
}: CardProps) {
  return (
    <section className={cx('min-w-0 rounded-lg border border-line bg-panel', className)} {...rest}>
      {(title !== undefined || actions !== undefined) && (
        <header className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
          <h2 className="font-semibold">{title}</h2>
          {note !== undefined && <span className="text-xs text-muted">{note}</span>}
          {actions !== undefined && (
            <div className="ml-auto flex items-center gap-2">{actions}</div>
          )}
        </header>
      )}
      <div className={padded ? 'p-4' : undefined}>{children}</div>
    </section>
  )
}

export interface StatProps {
  readonly label: string
  readonly value: ReactNode
  /** The exact figure, on hover and for screen readers. */
  readonly exact?: string
  readonly note?: ReactNode
  readonly tone?: 'plain' | 'bad' | 'warn'
}

const tones = { plain: '', bad: 'text-bad', warn: 'text-warn' }

/** One figure with its name, inside `<Stats>`. */
export function Stat({ label, value, exact, note, tone = 'plain' }: StatProps) {
  return (
    <div className="min-w-0 bg-panel px-4 py-3">
      <dt className="text-xs text-muted">{label}</dt>
      <dd className={cx('mt-0.5 text-xl font-semibold tracking-tight', tones[tone])} title={exact}>
        {value}
      </dd>
      {note !== undefined && <dd className="mt-0.5 text-xs text-muted">{note}</dd>}
    </div>
  )
}

/** Figures side by side. */
export function Stats({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <dl
      className={cx(
        'grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line md:grid-cols-3 xl:grid-cols-6 max-md:*:last:odd:col-span-2',
        className,
      )}
    >
      {children}
    </dl>
  )
}
