import type { ReactNode } from 'react'
import { cx } from '@/lib/cx.ts'

const tones = {
  plain: 'bg-raised text-muted',
  accent: 'bg-accent-soft text-accent-text',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
}

export type Tone = keyof typeof tones

/** A state in one word. The colour repeats what the word says. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={cx(
        'inline-flex h-5 items-center gap-1 rounded px-1.5 text-xs font-medium whitespace-nowrap',
        tones[tone],
      )}
    >
      {children}
    </span>
  )
}

/** How much of something is used: a bar with a name for screen readers. */
export function Meter({ share, label }: { share: number; label: string }) {
  const percent = Math.min(100, Math.max(0, share * 100))
  const tone = share >= 1 ? 'bg-bad-strong' : share >= 0.8 ? 'bg-[var(--chart-3)]' : 'bg-accent'
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers draw their own meter, which takes no theme
    <span
      role="meter"
      aria-label={label}
      aria-valuenow={Math.round(percent)}
      aria-valuemin={0}
      aria-valuemax={100}
      className="block h-1.5 w-full overflow-hidden rounded-full bg-raised"
    >
      <span className={cx('block h-full rounded-full', tone)} style={{ width: `${percent}%` }} />
    </span>
  )
}
