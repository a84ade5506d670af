import { Field, Input } from '@/ui/field.tsx'

export interface TextFieldProps {
  readonly value: string
  readonly onChange: (text: string) => void
}

/** The display name; names need not be unique. */
export function NameField({ value, onChange }: TextFieldProps) {
  return (
    <Field label="Name">
      {(control) => (
        <Input
          {...control}
          required
          maxLength={200}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}

/** The key by which the config file refers to a team or a service account. */
export function KeyField({ value, onChange }: TextFieldProps) {
  return (
    <Field label="Key" hint="Lowercase letters, digits, . - _ (cannot be changed later)">
      {(control) => (
        <Input
          {...control}
          required
          pattern="[a-z0-9][a-z0-9._\-]{0,63}"
          title="Up to 64 lowercase letters, digits, dots, dashes and underscores"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}
