import type { FieldProblem } from '@/api/client.ts'
import { problemAt } from '@/lib/managed.ts'
import { Field, Input, Select } from '@/ui/field.tsx'

/** How a secret is given: as a variable of the gateway, or itself. */
export interface Secret {
  readonly from: 'paste' | 'env'
  /** The name of the variable, or the secret. */
  readonly text: string
}

export const noSecret: Secret = { from: 'paste', text: '' }

export interface SecretFieldProps {
  readonly path: string
  readonly label: string
  readonly hint: string | undefined
  /** Those that can be named. */
  readonly variables: readonly string[]
  readonly value: Secret
  readonly problems: readonly FieldProblem[]
  readonly onChange: (next: Secret) => void
}

const STORED = 'Stored in a file next to the managed file, which the gateway alone can read'

/** The reference that a secret has in the config; '' for one that is pasted, which is not in it. */
export function referenceOf({ from, text }: Secret): string {
  return from === 'paste' ? '' : `env.${text}`
}

/** A secret of a provider. */
export function SecretField(props: SecretFieldProps) {
  const { path, label, hint, variables, value, problems, onChange } = props
  const isPasted = value.from === 'paste'
  const problem = problemAt(path, problems)
  return (
    <div className="grid gap-2">
      {variables.length > 0 && (
        <Field label={`${label} from`} problem={isPasted ? undefined : problem}>
          {(control) => (
            <Select
              {...control}
              className="w-full"
              value={isPasted ? '' : value.text}
              onChange={({ target }) =>
                onChange(target.value === '' ? noSecret : { from: 'env', text: target.value })
              }
            >
              {variables.map((name) => (
                <option key={name} value={name}>
                  Use {name} of the gateway's environment
                </option>
              ))}
              <option value="">Pasted here</option>
            </Select>
          )}
        </Field>
      )}
      {isPasted && (
        <Field label={label} hint={hint ?? STORED} problem={problem}>
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="off"
              spellCheck={false}
              title={STORED}
              className="font-mono"
              value={value.text}
              onChange={({ target }) => onChange({ ...value, text: target.value.trim() })}
            />
          )}
        </Field>
      )}
    </div>
  )
}
