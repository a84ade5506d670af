import type { FieldProblem } from '@/api/client.ts'
import { problemAt } from '@/lib/managed.ts'
import { Field, Input, Select } from '@/ui/field.tsx'

/** A secret: the name of an environment variable of the gateway, or the secret itself. */
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
  /** The environment variables that can be used. */
  readonly variables: readonly string[]
  readonly value: Secret
  readonly problems: readonly FieldProblem[]
  readonly onChange: (next: Secret) => void
}

const STORED = 'Stored in a file next to the managed file that only the gateway can read'

/**
 * The reference to the secret in the config; '' for a pasted secret, which is not in the config.
 */
export function referenceOf({ from, text }: Secret): string {
  return from === 'paste' ? '' : `env.${text}`
}

/** The field for a secret of a provider. */
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
                  Use {name} from the gateway's environment
                </option>
              ))}
              <option value="">Paste a key</option>
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
