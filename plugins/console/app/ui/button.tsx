import { cva, type VariantProps } from 'class-variance-authority'
import type { ComponentProps } from 'react'
import { cx } from '@/lib/cx.ts'

export const buttonStyle = cva(
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-colors disabled:pointer-events-none disabled:opacity-50 aria-disabled:pointer-events-none aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0',
  {
    variants: {
      kind: {
        primary: 'bg-accent text-accent-ink hover:brightness-110',
        secondary: 'border border-line bg-panel text-ink hover:bg-raised',
        ghost: 'text-muted hover:bg-raised hover:text-ink',
        danger: 'bg-bad-strong text-white hover:brightness-110',
      },
      size: { md: 'h-8 px-3', sm: 'h-7 px-2 text-xs', icon: 'size-8', 'icon-sm': 'size-6' },
    },
    defaultVariants: { kind: 'secondary', size: 'md' },
  },
)

/** An icon alone needs an `aria-label`. */
export function Button({
  kind,
  size,
  className,
  type = 'button',
  ...rest
}: ComponentProps<'button'> & VariantProps<typeof buttonStyle>) {
  return <button type={type} className={cx(buttonStyle({ kind, size }), className)} {...rest} />
}
