import { Field, Input } from '@/ui/field.tsx'

export interface AmountFieldProps {
  readonly label: string
  readonly hint: string
  readonly required?: boolean
  readonly value: string
  readonly onChange: (amount: string) => void
}

/** An amount in USD, as a decimal string in the form that the API accepts. */
export function AmountField({ label, hint, required, value, onChange }: AmountFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <Input
          {...control}
          required={required}
          inputMode="decimal"
          pattern="\s*(0|[1-9][0-9]{0,11})(\.[0-9]{1,12})?\s*"
          title="Enter a decimal number, such as 12.50"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
