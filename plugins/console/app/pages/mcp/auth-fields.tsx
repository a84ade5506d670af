import { authNames } from '@/pages/mcp/query.ts'
import { Field, Input, Select, Textarea } from '@/ui/field.tsx'

/** How the gateway authenticates to a server, as it is being written. */
export interface Auth {
  readonly mode: string
  /** What the mode needs, in fields of its own or as JSON. */
  readonly config: Readonly<Record<string, unknown>>
  /** What stands in the field for JSON; undefined: nobody has written there. */
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
  hint: 'An environment variable of the gateway, never the secret itself.',
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
      hint: 'In which the server wants the secret.',
      required: true,
      placeholder: 'x-api-key',
    },
    secretRef,
  ],
  user_passthrough: [
    {
      name: 'header',
      label: 'Header',
      hint: 'Optional. Callers are refused until the gateway has credentials of theirs.',
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
          hint="An object; empty, when the mode needs nothing."
          problem={configOf(value) === undefined ? 'This is no JSON object.' : undefined}
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

/** What the API is given; undefined while it is not JSON. Fields that are empty are left out. */
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
