import { type KeyboardEvent, type ReactNode, useId } from 'react'
import { cx } from '@/lib/cx.ts'

export interface Tab<K extends string> {
  readonly key: K
  readonly label: ReactNode
}

export interface TabsProps<K extends string> {
  readonly label: string
  readonly tabs: readonly Tab<K>[]
  readonly value: K
  readonly onChange: (key: K) => void
  /** The content of the chosen tab. */
  readonly children: ReactNode
  /** `line`: headings above a panel; `pill`: a small switch. */
  readonly look?: 'line' | 'pill'
}

const looks = {
  line: {
    list: 'flex gap-4 border-b border-line',
    tab: '-mb-px border-b-2 border-transparent py-2 text-muted hover:text-ink aria-selected:border-accent aria-selected:text-ink',
  },
  pill: {
    list: 'inline-flex rounded-md border border-line bg-raised p-0.5',
    tab: 'h-6 rounded px-2.5 text-xs text-muted hover:text-ink aria-selected:bg-panel aria-selected:text-ink aria-selected:shadow-sm',
  },
}

/** Tabs; the arrow keys, Home and End move between them. */
export function Tabs<K extends string>(props: TabsProps<K>) {
  const { label, tabs, value, onChange, children, look = 'line' } = props
  const id = useId()
  function move(event: KeyboardEvent<HTMLDivElement>) {
    const at = tabs.findIndex(({ key }) => key === value)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    const next = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length]
    if (next === undefined) return
    event.preventDefault()
    onChange(next.key)
    document.getElementById(`${id}-${next.key}`)?.focus()
  }
  return (
    <>
      <div role="tablist" aria-label={label} className={looks[look].list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.key}
            id={`${id}-${tab.key}`}
            type="button"
            role="tab"
            aria-selected={tab.key === value}
            aria-controls={`${id}-panel`}
            tabIndex={tab.key === value ? 0 : -1}
            onClick={() => onChange(tab.key)}
            className={cx('font-medium whitespace-nowrap', looks[look].tab)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div
        id={`${id}-panel`}
        role="tabpanel"
        aria-labelledby={`${id}-${value}`}
        className="min-w-0"
      >
        {children}
      </div>
    </>
  )
}

export interface SegmentsProps<K extends string> {
  readonly label: string
  readonly options: readonly Tab<K>[]
  readonly value: K
  readonly onChange: (key: K) => void
}

/** A segmented control for a few options, such as a number of days. */
export function Segments<K extends string>({ label, options, value, onChange }: SegmentsProps<K>) {
  return (
    <fieldset className="inline-flex rounded-md border border-line bg-raised p-0.5">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <button
          key={option.key}
          type="button"
          aria-pressed={option.key === value}
          onClick={() => onChange(option.key)}
          className="h-6.5 rounded px-2.5 text-xs font-medium whitespace-nowrap text-muted hover:text-ink aria-pressed:bg-panel aria-pressed:text-ink aria-pressed:shadow-sm"
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  )
}
