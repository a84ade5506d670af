import { Field, Select } from '@/ui/field.tsx'

const cadences = { daily: 'Day', weekly: 'Week (starts Monday)', monthly: 'Month' } as const
export type Cadence = keyof typeof cadences

export interface CadenceFieldProps {
  readonly value: Cadence
  readonly onChange: (cadence: Cadence) => void
}

/** The length of a budget's window. */
export function CadenceField({ value, onChange }: CadenceFieldProps) {
  return (
    <Field label="Period">
      {(control) => (
        <Select
          {...control}
          value={value}
          onChange={({ target }) => onChange(target.value as Cadence)}
        >
          {Object.entries(cadences).map(([key, label]) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
