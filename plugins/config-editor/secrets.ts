import { GatewayError, isJsonObject, type JsonObject, type TSchema } from 'model-gateway/plugin'

/** Marks secrets in the schemas of provider types. */
const SECRET = 'x-secret'
const REFERENCE = /^(?:env\.|file\.\/)/

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
 * Throws `validation_failed` when a secret is written where a reference belongs: it would get into the
 * file, the audit log and error messages. It does not repeat what was written.
 */
export function requireReferences(entry: JsonObject, fields: readonly string[]): void {
  const problems = fields
    .filter((field) => {
      const value = valueAt(entry, field)
      return value !== undefined && !(typeof value === 'string' && REFERENCE.test(value))
    })
    .map((field) => {
      const message = 'must be env.NAME or file./absolute/path; send the secret itself in secrets'
      return { path: `/provider/${field.replaceAll('.', '/')}`, field, message }
    })
  if (problems.length === 0) return
  const words = problems.map(({ field, message }) => `${field} ${message}`).join('; ')
  throw new GatewayError('validation_failed', words, { details: { problems } })
}

function valueAt(entry: JsonObject, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), entry)
}

/** The entry with another value of a field, which may be in maps that are not there yet. */
export function withValue(entry: JsonObject, field: string, value: string): JsonObject {
  const [name = '', ...rest] = field.split('.')
  if (rest.length === 0) return { ...entry, [name]: value }
  const inner = entry[name]
  return { ...entry, [name]: withValue(isJsonObject(inner) ? inner : {}, rest.join('.'), value) }
}
