import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { canonicalJson, hashOf } from './canonical.ts'
import { DiscoveryFailure } from './failure.ts'

const MAX_NAME = 512

/** A tool as a server describes it. */
export interface DiscoveredTool {
  readonly name: string
  readonly displayName: string | undefined
  readonly description: string | undefined
  /** Canonical text, like the schema. */
  readonly annotations: string | undefined
  readonly inputSchema: string
  readonly schemaHash: string
  /** Changes with whatever a model or a person is told of the tool. */
  readonly definitionHash: string
}

/** One entry of `tools/list`. Throws DiscoveryFailure. */
export function readTool(entry: JsonValue): DiscoveredTool {
  if (!isJsonObject(entry)) throw invalid('one is no object')
  const { name, title, description, annotations } = entry
  if (typeof name !== 'string' || name.trim() === '') throw invalid('one has no name')
  // No database keeps a text with this character.
  if (name.length > MAX_NAME || name.includes('\0')) throw invalid('the name of one cannot be kept')
  try {
    const schema = schemaOf(entry)
    const inputSchema = canonicalJson(schema)
    const told: JsonObject = { name, inputSchema: schema }
    if (typeof description === 'string') told.description = description
    if (isJsonObject(annotations)) told.annotations = annotations
    return {
      name,
      displayName: keepable(typeof title === 'string' ? title : titleOf(annotations)),
      description: keepable(description),
      annotations: isJsonObject(annotations) ? canonicalJson(annotations) : undefined,
      inputSchema,
      schemaHash: hashOf(inputSchema),
      definitionHash: hashOf(canonicalJson(told)),
    }
  } catch (error) {
    if (error instanceof DiscoveryFailure) throw error
    throw invalid('the definition of one has no canonical form')
  }
}

/** A schema that is left out allows any object. */
function schemaOf({ inputSchema }: JsonObject): JsonObject {
  if (inputSchema === undefined) return { type: 'object' }
  if (isJsonObject(inputSchema) && (inputSchema.type ?? 'object') === 'object') return inputSchema
  throw invalid('the input schema of one is not that of an object')
}

function titleOf(annotations: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(annotations) ? annotations.title : undefined
}

function keepable(text: JsonValue | undefined): string | undefined {
  return typeof text === 'string' ? text.replaceAll('\0', '') : undefined
}

function invalid(what: string): DiscoveryFailure {
  return new DiscoveryFailure(`invalid tools: ${what}`)
}
