import { Field, Textarea } from '@/ui/field.tsx'

export interface NameListProps {
  readonly label: string
  readonly hint?: string
  readonly placeholder?: string
  readonly value: readonly string[]
  readonly onChange: (names: readonly string[]) => void
}

/**
 * A text area for names, one per line. It keeps empty lines while the user types; `namesIn` removes
 * them.
 */
export function NameList({ label, hint, placeholder, value, onChange }: NameListProps) {
  return (
    <Field label={label} hint={hint ?? 'One per line'}>
      {(control) => (
        <Textarea
          {...control}
          className="min-h-14 font-mono text-xs"
          placeholder={placeholder}
          value={value.join('\n')}
          onChange={({ target }) => onChange(target.value.split('\n'))}
        />
      )}
    </Field>
  )
}

/** The names in the text, without empty lines. */
export function namesIn(lines: readonly string[]): string[] {
  return [...new Set(lines.map((line) => line.trim()).filter((line) => line !== ''))]
}
