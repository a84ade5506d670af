import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/** Members that hold one schema, a list of schemas, or schemas by name. */
const ONE = ['items', 'additionalProperties', 'contains', 'not', 'propertyNames'] as const
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'] as const
const NAMED = ['properties', 'patternProperties', '$defs'] as const

/**
 * A JSON schema in the words that Google reads (`GenerationConfig.responseJsonSchema` lists them),
 * with its meaning kept: `definitions` are `$defs`, a `const` is an `enum` of one, what stands beside
 * a `$ref` stands around it, and bounds that exclude are those of draft 2020-12.
 */
export function googleSchema(schema: JsonObject): JsonObject {
  const { $schema: _, $comment: __, definitions, ...rest } = schema
  const out: JsonObject = { ...rest }
  if (isJsonObject(definitions)) {
    out.$defs = { ...definitions, ...(isJsonObject(out.$defs) ? out.$defs : {}) }
  }
  if (typeof out.$ref === 'string') out.$ref = out.$ref.replace(/^#\/definitions\//, '#/$defs/')
  if (typeof out.const === 'string' || typeof out.const === 'number') {
    out.enum = [out.const]
    delete out.const
  }
  exclude(out, 'exclusiveMinimum', 'minimum', 1)
  exclude(out, 'exclusiveMaximum', 'maximum', -1)
  for (const name of ONE) if (isJsonObject(out[name])) out[name] = googleSchema(out[name])
  for (const name of LISTS) {
    const list = out[name]
    if (Array.isArray(list)) out[name] = list.map(schemaOf)
  }
  for (const name of NAMED) {
    const members = out[name]
    if (!isJsonObject(members)) continue
    out[name] = Object.fromEntries(
      Object.entries(members).map(([key, member]) => [key, schemaOf(member)]),
    )
  }
  return apartFromRef(oneOfAll(out))
}

/** A schema that anything fits may be written as `true`. */
function schemaOf(value: JsonValue | undefined): JsonValue {
  if (value === true) return {}
  return isJsonObject(value) ? googleSchema(value) : (value ?? null)
}

/** Draft 4 says by a flag that a bound is excluded; of whole numbers the next one is the bound. */
function exclude(schema: JsonObject, excluded: string, bound: string, step: number): void {
  const value = schema[excluded]
  const limit = value === true ? schema[bound] : value
  if (typeof value === 'boolean') delete schema[excluded]
  if (typeof limit !== 'number') return
  if (schema.type === 'integer' && Number.isInteger(limit)) {
    delete schema[excluded]
    const own = value === true ? undefined : schema[bound]
    const next = limit + step
    const stricter = step > 0 ? Math.max : Math.min
    schema[bound] = typeof own === 'number' ? stricter(own, next) : next
  } else if (value === true) {
    delete schema[bound]
    schema[excluded] = limit
  }
}

/** What must fit all of one schema fits any of it. */
function oneOfAll(schema: JsonObject): JsonObject {
  const { allOf, ...rest } = schema
  return Array.isArray(allOf) && allOf.length === 1 && rest.anyOf === undefined
    ? { ...rest, anyOf: allOf }
    : schema
}

/** Beside a `$ref` there may be nothing that does not begin with `$`. */
function apartFromRef(schema: JsonObject): JsonObject {
  const { $ref, ...rest } = schema
  if ($ref === undefined || rest.anyOf !== undefined) return schema
  const apart = Object.keys(rest).some((name) => !name.startsWith('$'))
  return apart ? { ...rest, anyOf: [{ $ref }] } : schema
}
