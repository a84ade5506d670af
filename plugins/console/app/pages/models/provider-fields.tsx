import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { FieldProblem } from '@/api/client.ts'
import { problemAt } from '@/lib/managed.ts'
import { isShown, type SchemaField, type Written } from '@/lib/schema-fields.ts'
import { type Secret, SecretField } from '@/pages/models/secret-field.tsx'
import { Button } from '@/ui/button.tsx'
import { Field, Input, Select, Textarea } from '@/ui/field.tsx'

export interface ProviderFieldsProps {
  readonly fields: readonly SchemaField[]
  readonly written: Written
  readonly secretAt: (path: string) => Secret
  /** Environment variables that can be used as a secret. */
  readonly variables: readonly string[]
  readonly problems: readonly FieldProblem[]
  readonly onWrite: (path: string, text: string) => void
  readonly onSecret: (path: string, secret: Secret) => void
}

/** The label for a config key: `auth.token` → Auth: token. */
function labelOf(path: string): string {
  const words = path.replaceAll('_', ' ').replaceAll('.', ': ')
  const label = words.charAt(0).toUpperCase() + words.slice(1)
  return label.replace(/\b(url|api|id)\b/gi, (word) => word.toUpperCase())
}

/** The fields of a provider type: required ones first, the others collapsed. */
export function ProviderFields(props: ProviderFieldsProps) {
  const [open, setOpen] = useState(false)
  const shown = props.fields.filter((field) => isShown(field, props.written))
  const hasKey = props.fields.some(({ kind, only }) => kind === 'secret' && only === undefined)
  const isFirst = ({ path, required, kind, only }: SchemaField): boolean => {
    if (only !== undefined)
      return props.fields.some((one) => one.path === only.path && isFirst(one))
    // The field for the API key, for types without a variant of authentication.
    const hasSecret = props.fields.some((one) => one.kind === 'secret' && one.only?.path === path)
    return required || kind === 'secret' || (hasSecret && !hasKey)
  }
  const first = shown.filter(isFirst)
  const more = shown.filter((field) => !isFirst(field))
  // A field with a problem is never collapsed.
  const isOpen = open || more.some(({ path }) => problemAt(path, props.problems) !== undefined)
  const control = (field: SchemaField) => <Control key={field.path} field={field} {...props} />
  return (
    <>
      {first.map(control)}
      {more.length > 0 && (
        <>
          <Button
            kind="ghost"
            size="sm"
            className="justify-self-start"
            aria-expanded={isOpen}
            onClick={() => setOpen(!open)}
          >
            {isOpen ? <ChevronDown /> : <ChevronRight />} More settings
          </Button>
          {isOpen && more.map(control)}
        </>
      )}
    </>
  )
}

function Control({ field, ...props }: ProviderFieldsProps & { readonly field: SchemaField }) {
  const { written, secretAt, variables, problems, onWrite, onSecret } = props
  const { path, kind, hint, words, required } = field
  const label = labelOf(path)
  if (kind === 'secret') {
    return (
      <SecretField
        path={path}
        label={label}
        hint={hint}
        variables={variables}
        value={secretAt(path)}
        problems={problems}
        onChange={(secret) => onSecret(path, secret)}
      />
    )
  }
  const value = written[path] ?? ''
  const write = ({ target }: { readonly target: { readonly value: string } }) =>
    onWrite(path, target.value)
  return (
    <Field label={label} hint={hint} problem={problemAt(path, problems)}>
      {(control) => {
        if (kind === 'choice' || kind === 'switch') {
          return (
            <Select {...control} className="w-full" value={value} onChange={write}>
              {!(required && value !== '') && <option value="">Default</option>}
              {(kind === 'switch' ? ['true', 'false'] : words).map((word) => (
                <option key={word} value={word}>
                  {word}
                </option>
              ))}
            </Select>
          )
        }
        if (kind === 'json') {
          return (
            <Textarea
              {...control}
              className="min-h-14 font-mono"
              placeholder="JSON"
              value={value}
              onChange={write}
            />
          )
        }
        return (
          <Input
            {...control}
            inputMode={kind === 'number' ? 'decimal' : 'text'}
            value={value}
            onChange={write}
          />
        )
      }}
    </Field>
  )
}
