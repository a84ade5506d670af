import { ChevronDown } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { cx } from '@/lib/cx.ts'

const box =
  'h-8 w-full rounded-md border border-line-strong/60 bg-panel px-2.5 text-ink placeholder:text-muted disabled:opacity-50 aria-invalid:border-bad-strong'

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input className={cx(box, className)} {...rest} />
}

export function Textarea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea className={cx(box, 'h-auto min-h-20 py-2', className)} {...rest} />
}

export interface SelectProps extends ComponentProps<'select'> {
  /** For a filter: whether it is set. */
  readonly active?: boolean
}

/** The browser's native select, because it works with keyboards, screen readers and touch. */
export function Select({ className, active = false, children, ...rest }: SelectProps) {
  return (
    <span className={cx('relative inline-block', className)}>
      <select
        className={cx(box, 'appearance-none truncate pr-7', active && 'border-accent')}
        {...rest}
      >
        {children}
      </select>
      <ChevronDown
        aria-hidden
        className="pointer-events-none absolute top-2 right-2 size-4 text-muted"
      />
    </span>
  )
}

export interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  /** An error message for the value. */
  readonly problem?: string | undefined
  /** Renders the control with these properties. */
  readonly children: (control: {
    readonly id: string
    readonly 'aria-describedby': string | undefined
    readonly 'aria-invalid': boolean | undefined
  }) => ReactNode
  readonly className?: string
}

/** A control with its label, hint and error message. */
export function Field({ label, hint, problem, children, className }: FieldProps) {
  const id = useId()
  const note = problem ?? hint
  return (
    <div className={cx('grid content-start gap-1', className)}>
      <label htmlFor={id} className="text-xs font-medium">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': note === undefined ? undefined : `${id}-note`,
        'aria-invalid': problem === undefined ? undefined : true,
      })}
      {note !== undefined && (
        <p id={`${id}-note`} className={cx('text-xs', problem ? 'text-bad' : 'text-muted')}>
          {note}
        </p>
      )}
    </div>
  )
}

/** A checkbox with its label next to it. */
export function Checkbox({ label, ...rest }: ComponentProps<'input'> & { label: string }) {
  const id = useId()
  return (
    <span className="inline-flex items-center gap-2">
      <input id={id} type="checkbox" className="size-4 shrink-0 accent-[var(--accent)]" {...rest} />
      <label htmlFor={id}>{label}</label>
    </span>
  )
}
