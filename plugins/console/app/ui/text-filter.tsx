import { X } from 'lucide-react'
import { useEffect, useId, useState } from 'react'
import { cx } from '@/lib/cx.ts'
import { Input } from '@/ui/field.tsx'

export interface TextFilterProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** Suggestions; other values can be typed. */
  readonly options?: readonly string[] | undefined
}

/** A text filter that is applied on choosing a suggestion, on Enter and on blur. */
export function TextFilter({ label, value, onChange, options }: TextFilterProps) {
  const [written, setWritten] = useState(value)
  const id = useId()
  useEffect(() => setWritten(value), [value])
  const take = (next: string) => {
    const text = next.trim()
    if (text !== value) onChange(text)
  }
  return (
    <span className="relative inline-block w-40">
      <Input
        aria-label={label}
        placeholder={label}
        value={written}
        list={options === undefined ? undefined : id}
        className={cx('truncate pr-7', value !== '' && 'border-accent')}
        onChange={({ target }) => {
          setWritten(target.value)
          if (options?.includes(target.value)) take(target.value)
        }}
        onBlur={() => take(written)}
        onKeyDown={({ key }) => {
          if (key === 'Enter') take(written)
        }}
      />
      {value !== '' && (
        <button
          type="button"
          aria-label={`Clear ${label}`}
          className="absolute top-1.5 right-1 grid size-5 place-items-center rounded bg-panel text-muted hover:text-ink"
          onClick={() => onChange('')}
        >
          <X aria-hidden className="size-3.5" />
        </button>
      )}
      {options !== undefined && (
        <datalist id={id}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </span>
  )
}
