import { GatewayError, isJsonObject, type JsonObject, type TSchema } from 'model-gateway/plugin'
import type { ConfigAccess } from './access.ts'
import { freeKeyPath } from './files.ts'

/** Marks secrets in the schemas of provider types. */
const SECRET = 'x-secret'
const REFERENCE = /^(?:env\.|file\.\/)/
/** What the gateway's own settings may hold belongs to no provider. */
const OWN = /^(?:env\.(?:GATEWAY_|DATABASE_URL$)|file\.\/+(?:proc|sys|dev)\/)/

/** Where a type's config has secrets: `api_key`, `auth.token`. */
export function secretFields(schema: TSchema): readonly string[] {
  const found = new Set<string>()
  const look = (part: TSchema, path: readonly string[]) => {
    if (part[SECRET] === true) found.add(path.join('.'))
    for (const [name, property] of Object.entries<TSchema>(part.properties ?? {})) {
      look(property, [...path, name])
    }
    for (const variant of (part.anyOf ?? []) as TSchema[]) look(variant, path)
  }
  look(schema, [])
  return [...found]
}

/**
 * The entry with files in the place of the secrets that were sent, each of which is given to `store` with
 * its file. Throws `validation_failed` for a type or a field that is not there, and for a secret that is
 * written where a reference belongs: it would get into the file, the audit log and error messages.
 */
export function withKeys(
  { file, types }: Pick<ConfigAccess, 'file' | 'types'>,
  sent: JsonObject,
  secrets: Readonly<Record<string, string>>,
  store: (path: string, secret: string) => void,
): JsonObject {
  const type = types.find(
    (spec) => spec.type === sent.type || spec.aliases?.includes(String(sent.type)),
  )
  if (type === undefined) {
    const known = types.map((spec) => spec.type).join(', ')
    throw invalid([['type', `must be a provider type of this gateway: ${known}`]])
  }
  const fields = secretFields(type.config)
  const faults = fields.flatMap((field): Fault[] => {
    const fault = referenceFault(valueAt(sent, field))
    return fault === undefined ? [] : [[field, fault]]
  })
  const known = fields.join(', ') || 'none'
  for (const field of Object.keys(secrets)) {
    if (fields.includes(field)) continue
    faults.push([field, `is not a secret of type ${type.type}: its secrets are ${known}`])
  }
  if (faults.length > 0) throw invalid(faults)
  return Object.entries(secrets).reduce((entry, [field, secret]) => {
    const path = freeKeyPath(file, String(sent.id ?? ''))
    store(path, secret.trim())
    return withValue(entry, field, `file.${path}`)
  }, sent)
}

/** Does not repeat what was written. */
function referenceFault(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'string' || !REFERENCE.test(value)) {
    return 'must be env.NAME or file./absolute/path; send the secret itself in secrets'
  }
  return OWN.test(value) || value.includes('/../')
    ? 'must not name what belongs to the gateway itself'
    : undefined
}

type Fault = readonly [field: string, message: string]

function invalid(faults: readonly Fault[]): GatewayError {
  const problems = faults.map(([field, message]) => ({ path: field, field, message }))
  const words = faults.map(([field, message]) => `${field} ${message}`).join('; ')
  return new GatewayError('validation_failed', words, { details: { problems } })
}

function valueAt(entry: JsonObject, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), entry)
}

/** The entry with another value of a field, which may be in maps that are not there yet. */
function withValue(entry: JsonObject, field: string, value: string): JsonObject {
  const [name = '', ...rest] = field.split('.')
  if (rest.length === 0) return { ...entry, [name]: value }
  const inner = entry[name]
  return { ...entry, [name]: withValue(isJsonObject(inner) ? inner : {}, rest.join('.'), value) }
}
