import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/** What the API refuses in the schema of an output. */
const REFUSED: ReadonlySet<string> = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties'],
])

/** The schema in the `response_format` of a chat call; undefined where it has none. */
export function schemaOf(format: JsonValue | undefined): JsonObject | undefined {
  const { json_schema: definition } = isJsonObject(format) ? format : {}
  const schema = isJsonObject(definition) ? definition.schema : undefined
  return isJsonObject(schema) ? schema : undefined
}

/**
 * `output_config.format` for a schema.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export function outputFormat(schema: JsonObject): JsonObject {
  return { type: 'json_schema', schema: outputSchema(schema) }
}

/**
 * A schema as the API takes it, as its official clients do: objects are closed, and limits that it does not
 * enforce are told the model in the description.
 */
function outputSchema(schema: JsonObject): JsonObject {
  const out: JsonObject = {}
  const limits: JsonObject = {}
  for (const [name, value] of Object.entries(schema)) {
    const isLimit = REFUSED.has(name) || (name === 'minItems' && Number(value) > 1)
    if (isLimit) limits[name] = value ?? null
    else if (name !== '$schema') out[name] = withSchemas(name, value ?? null)
  }
  if (schema.type === 'object' || isJsonObject(schema.properties)) out.additionalProperties = false
  if (Object.keys(limits).length > 0) {
    const told = JSON.stringify(limits)
    out.description = typeof out.description === 'string' ? `${out.description}\n${told}` : told
  }
  return out
}

/** Members that hold schemas by name. */
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])
/** Members that hold a schema or a list of them. */
const NESTED: ReadonlySet<string> = new Set(['items', 'anyOf', 'oneOf', 'allOf'])

function withSchemas(member: string, value: JsonValue): JsonValue {
  if (NAMED.has(member) && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, schema]) => [name, nested(schema ?? null)]),
    )
  }
  if (!NESTED.has(member)) return value
  return Array.isArray(value) ? value.map(nested) : nested(value)
}

function nested(schema: JsonValue): JsonValue {
  return isJsonObject(schema) ? outputSchema(schema) : schema
}
