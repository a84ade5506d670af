import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { storable } from '../../_shared/safe-text.ts'
import { canonicalJson, hashOf, NoCanonicalForm } from './canonical.ts'
import { DiscoveryFailure } from './failure.ts'

const MAX_NAME = 512

/** A tool as a server describes it. */
export interface DiscoveredTool {
  /** Without outer spaces, which calls must not have either. */
  readonly name: string
  readonly displayName: string | undefined
  readonly description: string | undefined
  /** Canonical text, like the schema. */
  readonly annotations: string | undefined
  readonly inputSchema: string
  readonly schemaHash: string
  /** Changes with everything that a model or a user reads about the tool. */
  readonly definitionHash: string
}

/**
 * Parses one entry of `tools/list`. Failures name it by its `position`, because they must not quote
 * the server. Throws DiscoveryFailure.
 */
export function readTool(entry: JsonValue, position: number): DiscoveredTool {
  const tool = `tool ${position}`
  if (!isJsonObject(entry)) throw invalid(`${tool} is not an object`)
  const { title, annotations } = entry
  const name = typeof entry.name === 'string' ? entry.name.trim() : ''
  if (name === '') throw invalid(`${tool} has no name`)
  // Otherwise the name is kept as it is, because calls must use it unchanged.
  if (name.length > MAX_NAME || name !== storable(name)) {
    throw invalid(`the name of ${tool} is too long or has characters that cannot be stored`)
  }
  const schema = schemaOf(entry)
  if (schema === undefined) throw invalid(`the input schema of ${tool} does not describe an object`)
  try {
    const inputSchema = canonicalJson(schema)
    const told: JsonObject = { name, inputSchema: schema }
    const description = keepable(entry.description)
    if (description !== undefined) told.description = description
    if (isJsonObject(annotations)) told.annotations = annotations
    return {
      name,
      displayName: keepable(typeof title === 'string' ? title : titleOf(annotations)),
      description,
      annotations: isJsonObject(annotations) ? canonicalJson(annotations) : undefined,
      inputSchema,
      schemaHash: hashOf(inputSchema),
      definitionHash: hashOf(canonicalJson(told)),
    }
  } catch (error) {
    if (!(error instanceof NoCanonicalForm)) throw error
    throw invalid(`the definition of ${tool} ${error.message}`)
  }
}

/** The stored parts of the server's definition. */
export function keptTexts(tool: DiscoveredTool): string[] {
  const { name, displayName, description, annotations, inputSchema } = tool
  return [name, displayName, description, annotations, inputSchema].filter(
    (text) => text !== undefined,
  )
}

/** A missing schema allows any object. `undefined`: the schema does not describe an object. */
function schemaOf({ inputSchema }: JsonObject): JsonObject | undefined {
  if (inputSchema === undefined) return { type: 'object' }
  if (!isJsonObject(inputSchema)) return undefined
  const { type } = inputSchema
  return type === undefined || type === 'object' ? inputSchema : undefined
}

function titleOf(annotations: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(annotations) ? annotations.title : undefined
}

function keepable(text: JsonValue | undefined): string | undefined {
  return typeof text === 'string' ? storable(text) : undefined
}

function invalid(what: string): DiscoveryFailure {
  return new DiscoveryFailure(`invalid tools: ${what}`)
}
