import {
  type ConfigPath,
  formatPath,
  GatewayError,
  isJsonObject,
  type JsonObject,
  type TSchema,
} from 'model-gateway/plugin'
import type { ProviderTypeSpec } from 'model-gateway/provider'
import type { ConfigAccess } from './access.ts'
import { freeKeyPath, isKeyPath } from './files.ts'

/** Marks secrets in the schemas of provider types. */
const SECRET = 'x-secret'
/** Marks a field that names a file with a secret. */
const SECRET_FILE = 'x-secret-file'
/** Marks an address that receives credentials of the machine if the provider has no secret. */
const MACHINE_CREDENTIALS = 'x-machine-credentials'

const REFERENCE = /^(?:env\.|file\.\/|literal\.)/
const VARIABLE = /^env\.([A-Za-z_]\w*)$/
/** Fields of every type whose values are never references to secrets. */
const PLAIN: ReadonlySet<unknown> = new Set(['id', 'default_headers'])
const BY_OPERATOR = 'ask the operator to add the provider to the config file'

/** The rules for the secrets that an entry may use. */
export interface SecretRules extends Pick<ConfigAccess, 'file' | 'types' | 'vendors'> {
  /** Variables that a provider of any address may use. */
  readonly variables: readonly string[]
  /** Whether a stored text of the managed file has exactly this entry. */
  readonly isKept: (entry: JsonObject) => Promise<boolean>
}

/** The secret fields of a type's config, such as `api_key` and `auth.token`. */
export function secretFields(schema: TSchema): readonly string[] {
  return fieldsWith(SECRET, schema)
}

function fieldsWith(keyword: string, schema: TSchema): readonly string[] {
  const found = new Set<string>()
  const look = (part: TSchema, path: readonly string[]) => {
    if (part[keyword] === true) found.add(path.join('.'))
    for (const [name, property] of Object.entries<TSchema>(part.properties ?? {})) {
      look(property, [...path, name])
    }
    for (const variant of [...(part.anyOf ?? []), ...(part.allOf ?? [])]) look(variant, path)
  }
  look(schema, [])
  return [...found]
}

/**
 * The entry, with a reference to a file for each pasted secret; `store` receives path and secret.
 * Throws `validation_failed` for an unknown type or field, and like `requireOwnSecrets`.
 */
export async function withKeys(
  rules: SecretRules,
  sent: JsonObject,
  secrets: Readonly<Record<string, string>>,
  store: (path: string, secret: string) => void,
): Promise<JsonObject> {
  const type = typeOf(rules, sent)
  const fields = secretFields(type.config)
  const known = fields.join(', ') || 'none'
  const strange = Object.keys(secrets).filter((field) => !fields.includes(field))
  refuse([
    ...strange.map((field): Fault => {
      return { field, message: `is not a secret of type ${type.type}; known secrets: ${known}` }
    }),
    ...(await faultsOf(rules, type, sent, Object.keys(secrets).length > 0)),
  ])
  return Object.entries(secrets).reduce((entry, [field, secret]) => {
    const path = freeKeyPath(rules.file, String(sent.id ?? ''))
    store(path, secret.trim())
    return withValue(entry, field, `file.${path}`)
  }, sent)
}

/**
 * Throws `validation_failed` for a provider that would send a secret of the operator to an address
 * that an admin chose. Also throws for a secret that is written in plain text instead of a
 * reference, because it would get into the file, the audit log and error messages.
 */
export async function requireOwnSecrets(rules: SecretRules, entry: JsonObject): Promise<void> {
  refuse(await faultsOf(rules, typeOf(rules, entry), entry, false))
}

function typeOf({ types }: SecretRules, { type }: JsonObject): ProviderTypeSpec {
  const found = types.find((spec) => spec.type === type || spec.aliases?.includes(String(type)))
  if (found !== undefined) return found
  const known = types.map((spec) => spec.type).join(', ')
  throw invalid([{ field: 'type', message: `must be a provider type of this gateway: ${known}` }])
}

interface Fault {
  readonly field: string
  readonly message: string
  readonly hint?: string
}

async function faultsOf(
  rules: SecretRules,
  { type, config }: ProviderTypeSpec,
  entry: JsonObject,
  hasPasted: boolean,
): Promise<readonly Fault[]> {
  const vendor = rules.vendors.find((one) => one.type === type)
  const own = vendor !== undefined && !(vendor.address in entry) ? vendor.keys : []
  const allowed = [...own, ...rules.variables]
  const texts = textsIn(entry)
  const isKey = (text: string) => isKeyPath(rules.file, text.replace(/^file\./, ''))
  const isKept = texts.some(([, text]) => isKey(text)) && (await rules.isKept(entry))

  function faultOf(reference: string): Omit<Fault, 'field'> | undefined {
    if (reference.startsWith('file.')) {
      if (isKept && isKey(reference)) return
      return {
        message: 'must not name a file',
        hint: 'paste the key itself; the gateway stores it in a file',
      }
    }
    const name = VARIABLE.exec(reference)?.[1]
    if (name === undefined) return notAReference
    if (allowed.includes(name)) return
    const others = `paste the key, or ask the operator to add ${name} to variables of builtin:config-editor`
    return vendor?.keys.includes(name)
      ? {
          message: `must not send ${name} of the gateway to an address other than the vendor's`,
          hint: `remove ${vendor.address}, ${others}`,
        }
      : { message: 'must not use a variable that is not allowed for this provider', hint: others }
  }

  const secrets = secretFields(config).filter((field) => valueAt(entry, field) !== undefined)
  const pasted = secrets.filter((field) => {
    const value = valueAt(entry, field)
    return typeof value !== 'string' || !REFERENCE.test(value)
  })
  // Check all texts, because a reference may be in an unknown or misspelt field.
  const references = texts.flatMap(([path, text]): Fault[] => {
    const fault = REFERENCE.test(text) && !PLAIN.has(path[0]) ? faultOf(text) : undefined
    return fault === undefined ? [] : [{ field: formatPath(path), ...fault }]
  })
  const stated = (keyword: string) =>
    fieldsWith(keyword, config).filter((field) => valueAt(entry, field) !== undefined)
  const addresses = secrets.length > 0 || hasPasted ? [] : stated(MACHINE_CREDENTIALS)
  return [
    ...pasted.map((field) => ({ field, ...notAReference })),
    ...references,
    ...stated(SECRET_FILE).map((field) => {
      return { field, message: 'must not name a file', hint: BY_OPERATOR }
    }),
    ...addresses.map((field) => ({
      field,
      message:
        'must not be set without a secret, because the address would receive credentials of the machine',
      hint: `paste a token, or ${BY_OPERATOR}`,
    })),
  ]
}

/** Does not quote the value. */
const notAReference = { message: 'must be env.NAME', hint: 'send the secret itself in `secrets`' }

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalid(faults)
}

function invalid(faults: readonly Fault[]): GatewayError {
  const problems = faults.map((fault) => ({ path: fault.field, ...fault }))
  const words = faults.map(
    ({ field, message, hint }) => `${field} ${message}${hint === undefined ? '' : `: ${hint}`}`,
  )
  return new GatewayError('validation_failed', words.join('; '), { details: { problems } })
}

function textsIn(value: unknown, path: ConfigPath = []): readonly [ConfigPath, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    textsIn(inner, [...path, Array.isArray(value) ? Number(name) : name]),
  )
}

function valueAt(entry: JsonObject, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), entry)
}

/** The entry with a new value of a field; creates missing maps on the way. */
function withValue(entry: JsonObject, field: string, value: string): JsonObject {
  const [name = '', ...rest] = field.split('.')
  if (rest.length === 0) return { ...entry, [name]: value }
  const inner = entry[name]
  return { ...entry, [name]: withValue(isJsonObject(inner) ? inner : {}, rest.join('.'), value) }
}
