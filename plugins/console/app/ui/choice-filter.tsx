import { Select } from '@/ui/field.tsx'

export interface ChoiceFilterProps<T extends string> {
  readonly label: string
  /** The text when nothing is chosen. */
  readonly any: string
  readonly options: Iterable<readonly [value: T, name: string]>
  /** '': nothing is chosen. */
  readonly value: T | ''
  readonly onChange: (value: T | '') => void
  readonly className: string
}

/** A filter for one of several values, or for any. */
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
