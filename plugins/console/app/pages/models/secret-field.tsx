import type { FieldProblem } from '@/api/client.ts'
import { type ProviderType, problemAt } from '@/lib/managed.ts'
import { Field, Input, Select } from '@/ui/field.tsx'

/** How a secret is given: as a reference, or itself. */
export interface Secret {
  readonly from: 'paste' | 'env' | 'file'
  readonly text: string
}

export interface SecretFieldProps {
  readonly path: string
  readonly label: string
  readonly hint: string | undefined
  readonly variables: ProviderType['key_variables']
  readonly value: Secret
  readonly problems: readonly FieldProblem[]
  readonly onChange: (next: Secret) => void
}

const hints = {
  paste: 'Stored in a file next to the managed file, which the gateway alone can read',
  env: 'A variable that the gateway was started with',
  file: 'The absolute path of a file that holds the secret',
} as const

/** The reference that a secret has in the config; '' for one that is pasted, which is not in it. */
export function referenceOf({ from, text }: Secret): string {
  return from === 'paste' || text === '' ? '' : `${from}.${text}`
}

/** A secret of a provider. */
export function SecretField(props: SecretFieldProps) {
  const { path, label, hint, variables, value, problems, onChange } = props
  return (
    <div className="grid grid-cols-[9rem_1fr] gap-2">
      <Field label={`${label} from`}>
        {(control) => (
          <Select
            {...control}
            value={value.from}
            onChange={({ target }) => {
              const from = target.value as Secret['from']
              const known = variables.find(({ is_set }) => is_set) ?? variables[0]
              onChange({ from, text: from === 'env' ? (known?.name ?? '') : '' })
            }}
          >
            <option value="paste">Pasted here</option>
            <option value="env">Variable</option>
            <option value="file">File</option>
          </Select>
        )}
      </Field>
      <Field label={label} hint={hint ?? hints[value.from]} problem={problemAt(path, problems)}>
        {(control) => (
          <Input
            {...control}
            type={value.from === 'paste' ? 'password' : 'text'}
            autoComplete="off"
            spellCheck={false}
            title={hints[value.from]}
            className="font-mono"
            value={value.text}
            onChange={({ target }) => onChange({ ...value, text: target.value.trim() })}
          />
        )}
      </Field>
    </div>
  )
}
