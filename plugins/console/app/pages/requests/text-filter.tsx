import { X } from 'lucide-react'
import { useEffect, useId, useState } from 'react'
import { cx } from '@/lib/cx.ts'
import { Input } from '@/ui/field.tsx'

export interface TextFilterProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** What can be chosen; anything else can be written. */
  readonly options?: readonly string[] | undefined
  /** Called with what has been written so far. */
  readonly onWrite?: (text: string) => void
  /** Only what can be chosen counts; anything else is taken back. */
  readonly strict?: boolean
  readonly className?: string
}

/** A text that counts when it is chosen, on Enter, and when somebody leaves it. */
export function TextFilter(props: TextFilterProps) {
  const { label, value, onChange, options, onWrite, strict = false, className } = props
  const [written, setWritten] = useState(value)
  const id = useId()
  useEffect(() => setWritten(value), [value])
  const take = (next: string) => {
    const text = next.trim()
    if (text === value) return
    if (!strict || text === '' || options?.includes(text)) return onChange(text)
    const near = options?.filter((option) => option.toLowerCase().includes(text.toLowerCase()))
    if (near?.[0] !== undefined && near.length === 1) onChange(near[0])
    else setWritten(value)
  }
  return (
    <span className={cx('relative inline-block w-40', className)}>
      <Input
        aria-label={label}
        placeholder={label}
        value={written}
        list={options === undefined ? undefined : id}
        className={cx('pr-7', value !== '' && 'border-accent')}
        onChange={({ target }) => {
          setWritten(target.value)
          onWrite?.(target.value)
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
