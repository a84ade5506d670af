import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { spelledCamel } from '../_shared/shape.ts'

/** Members that are no schemas and whose names are not the API's: a property may be called `type`. */
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'defs'])
/** Written as texts, because they are 64 bits long. */
const NUMBERS = /^(?:min|max)(?:Items|Length|Properties)$/

/**
 * A schema of Google's own kind, which is one of OpenAPI, as JSON Schema: types in lower case, `nullable` as
 * a second type, and without the order of properties.
 *
 * @example jsonSchema({ type: 'STRING', nullable: true }) // { type: ['string', 'null'] }
 */
export function jsonSchema(schema: JsonObject): JsonObject {
  const converted: Record<string, JsonValue> = {}
  for (const [stated, value] of Object.entries(schema)) {
    if (value === undefined || value === null) continue
    const name = spelledCamel(stated)
    if (name === 'propertyOrdering' || name === 'nullable') continue
    if (name === 'type') converted.type = mapEach(value, (type) => String(type).toLowerCase())
    else if (MAPS.has(name) && isJsonObject(value)) converted[name] = eachOf(value)
    else if (NUMBERS.test(name)) converted[name] = Number(value)
    else if (name === 'enum' || name === 'required' || name === 'example' || name === 'default') {
      converted[name] = value
    } else
      converted[name] = mapEach(value, (each) => (isJsonObject(each) ? jsonSchema(each) : each))
  }
  if (schema.nullable !== true) return converted
  if (typeof converted.type === 'string') return { ...converted, type: [converted.type, 'null'] }
  return converted.anyOf === undefined ? converted : withNull(converted)
}

function withNull(schema: JsonObject): JsonObject {
  const choices = Array.isArray(schema.anyOf) ? schema.anyOf : []
  return { ...schema, anyOf: [...choices, { type: 'null' }] }
}

function eachOf(schemas: JsonObject): JsonObject {
  const entries = Object.entries(schemas).map(([name, schema]) => [
    name,
    isJsonObject(schema) ? jsonSchema(schema) : schema,
  ])
  return Object.fromEntries(entries)
}

function mapEach(value: JsonValue, change: (one: JsonValue) => JsonValue): JsonValue {
  return Array.isArray(value) ? value.map(change) : change(value)
}
