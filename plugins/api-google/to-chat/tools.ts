import type { JsonObject } from 'model-gateway/plugin'
import { invalid, leaveOut } from 'model-gateway/wire'
import { member, objectIn, objectsIn, textIn } from '../_shared/shape.ts'
import type { Target } from './conversion.ts'
import { jsonSchema } from './schema.ts'

/** `tools` and `tool_choice` of a chat call. Throws GatewayError `invalid_request`. */
export function chatTools(request: JsonObject, target: Target): JsonObject {
  const config = objectIn(objectIn(request, 'toolConfig') ?? {}, 'functionCallingConfig') ?? {}
  const mode = textIn(config, 'mode')?.toUpperCase()
  const allowed = member(config, 'allowedFunctionNames')
  const offered = readTools(request, target)
  // Other modes ignore the names.
  const names = mode === 'ANY' && Array.isArray(allowed) ? new Set(allowed) : undefined
  const tools = names?.size ? offered.filter(({ name }) => names.has(name)) : offered
  if (tools.length === 0) return {}
  const choice = mode === 'NONE' ? 'none' : mode === 'ANY' ? 'required' : undefined
  return {
    tools: tools.map((declared) => ({ type: 'function', function: declared })),
    ...(choice !== undefined && { tool_choice: choice }),
  }
}

interface DeclaredFunction extends JsonObject {
  readonly name: string
}

/** A chat call does not support hosted tools. */
function readTools(request: JsonObject, target: Target): readonly DeclaredFunction[] {
  return objectsIn(request, 'tools').flatMap((tool, i) => {
    const hosted = Object.keys(tool).filter((name) => !/^function_?declarations$/i.test(name))
    if (hosted.length > 0) leaveOut('tools', target)
    return objectsIn(tool, 'functionDeclarations').map((declared, k) =>
      functionOf(declared, `tools.${i}.functionDeclarations.${k}`),
    )
  })
}

function functionOf(declared: JsonObject, at: string): DeclaredFunction {
  const name = textIn(declared, 'name')
  if (name === undefined || name === '') throw invalid(`${at}.name must be a non-empty string`)
  const description = textIn(declared, 'description')
  const schema = objectIn(declared, 'parameters')
  const parameters = objectIn(declared, 'parametersJsonSchema') ?? (schema && jsonSchema(schema))
  return {
    name,
    ...(description !== undefined && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
  }
}
