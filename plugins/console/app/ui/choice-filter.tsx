import { Select } from '@/ui/field.tsx'

export interface ChoiceFilterProps<T extends string> {
  readonly label: string
  /** What stands there when nothing is chosen. */
  readonly any: string
  readonly options: Iterable<readonly [value: T, name: string]>
  /** '': nothing is chosen. */
  readonly value: T | ''
  readonly onChange: (value: T | '') => void
  readonly className: string
}

/** One of some values, or any. */
export function ChoiceFilter<T extends string>(props: ChoiceFilterProps<T>) {
  const { label, any, options, value, onChange, className } = props
  return (
    <Select
      aria-label={label}
      className={className}
      active={value !== ''}
      value={value}
      onChange={({ target }) => onChange(target.value as T | '')}
    >
      <option value="">{any}</option>
      {[...options].map(([key, name]) => (
        <option key={key} value={key}>
          {name}
        </option>
      ))}
    </Select>
  )
}
