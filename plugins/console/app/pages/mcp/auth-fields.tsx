import { authNames } from '@/pages/mcp/query.ts'
import { Field, Input, Select, Textarea } from '@/ui/field.tsx'

/** The authentication fields in the form. */
export interface Auth {
  readonly mode: string
  /** The settings of the mode, from its fields or the JSON field. */
  readonly config: Readonly<Record<string, unknown>>
  /** The text of the JSON field; undefined: not edited. */
  readonly json?: string | undefined
}

interface TextField {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly required: boolean
  readonly placeholder: string
}

const secretRef: TextField = {
  name: 'secret_ref',
  label: 'Secret reference',
  hint: 'The name of an environment variable of the gateway, not the secret.',
  required: true,
  placeholder: 'env/GATEWAY_MCP_SECRET_NAME',
}

const fieldsOf: Readonly<Record<string, readonly TextField[]>> = {
  none: [],
  gateway_bearer_token: [secretRef],
  gateway_static_header: [
    {
      name: 'header_name',
      label: 'Header',
      hint: 'The header in which the server expects the secret.',
      required: true,
      placeholder: 'x-api-key',
    },
    secretRef,
  ],
  user_passthrough: [
    {
      name: 'header',
      label: 'Header',
      hint: 'Optional. Calls are rejected until the caller’s credentials are available.',
      required: false,
      placeholder: 'authorization',
    },
  ],
}

export interface AuthFieldsProps {
  readonly value: Auth
  readonly onChange: (auth: Auth) => void
}

export function AuthFields({ value, onChange }: AuthFieldsProps) {
  const { mode, config, json } = value
  const fields = fieldsOf[mode]
  return (
    <>
      <Field label="Authentication" hint={<code className="font-mono">{mode}</code>}>
        {(control) => (
          <Select
            {...control}
            className="w-full"
            value={mode}
            onChange={({ target }) => onChange({ mode: target.value, config: {} })}
          >
            {[...new Set([...Object.keys(authNames), mode])].map((name) => (
              <option key={name} value={name}>
                {authNames[name] ?? name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {fields?.map(({ name, label, hint, required, placeholder }) => (
        <Field key={name} label={label} hint={hint}>
          {(control) => (
            <Input
              {...control}
              required={required}
              placeholder={placeholder}
              value={String(config[name] ?? '')}
              onChange={({ target }) =>
                onChange({ mode, config: { ...config, [name]: target.value } })
              }
            />
          )}
        </Field>
      ))}
      {fields === undefined && (
        <Field
          label="Settings of the mode (JSON)"
          hint="A JSON object. Leave empty if the mode needs no settings."
          problem={configOf(value) === undefined ? 'Must be a JSON object.' : undefined}
        >
          {(control) => (
            <Textarea
              {...control}
              className="font-mono text-xs"
              value={json ?? JSON.stringify(config, null, 2)}
              onChange={({ target }) => onChange({ mode, config, json: target.value })}
            />
          )}
        </Field>
      )}
    </>
  )
}

/** The settings to send, without empty fields; undefined if the JSON is invalid. */
export function configOf({ config, json }: Auth): Record<string, unknown> | undefined {
  if (json === undefined) {
    return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== ''))
  }
  try {
    const value: unknown = json.trim() === '' ? {} : JSON.parse(json)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
