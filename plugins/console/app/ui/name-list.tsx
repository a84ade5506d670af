import { Field, Textarea } from '@/ui/field.tsx'

export interface NameListProps {
  readonly label: string
  readonly hint?: string
  readonly placeholder?: string
  readonly value: readonly string[]
  readonly onChange: (names: readonly string[]) => void
}

/** Names, one per line. Empty lines are kept while typing: pass the value through `namesIn`. */
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

/** The names of a list as they are sent. */
export function namesIn(lines: readonly string[]): string[] {
  return [...new Set(lines.map((line) => line.trim()).filter((line) => line !== ''))]
}
