import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/** How deep definitions may stand in each other, and how many in a schema: the rest is open. */
const DEEPEST = 5
const MOST = 500

/** A `$ref` to a definition of the same schema. */
const REFERENCE = /^#\/(?:\$defs|definitions)\/([^/]+)$/

/**
 * The schema of a tool as the model takes it. Nova refuses all members at the top but `type`,
 * `properties` and `required`: definitions are put in where they are meant, the rest is left out.
 * https://docs.aws.amazon.com/nova/latest/userguide/tool-use-definition.html
 */
export function inputSchema(schema: JsonObject, upstreamModel: string): JsonObject {
  if (!upstreamModel.includes('amazon.nova')) return schema
  const { $defs, definitions, properties, required } = schema
  const known = { ...objectOr(definitions), ...objectOr($defs) }
  return {
    type: 'object',
    ...(properties === undefined ? {} : { properties: withDefinitions(properties, known) }),
    ...(Array.isArray(required) ? { required } : {}),
  }
}

function withDefinitions(schema: JsonValue, known: JsonObject): JsonValue {
  let left = MOST
  function resolved(value: JsonValue, depth: number): JsonValue {
    if (Array.isArray(value)) return value.map((entry) => resolved(entry, depth))
    if (!isJsonObject(value)) return value
    const { $ref, ...beside } = value
    const name = typeof $ref === 'string' ? REFERENCE.exec($ref)?.[1] : undefined
    const meant = name === undefined ? undefined : known[name]
    if (isJsonObject(meant)) {
      if (depth === DEEPEST || left-- <= 0) return beside
      return resolved({ ...meant, ...beside }, depth + 1)
    }
    const entries = Object.entries(value)
    return Object.fromEntries(entries.map(([key, entry]) => [key, resolved(entry ?? null, depth)]))
  }
  return resolved(schema, 0)
}

function objectOr(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}
