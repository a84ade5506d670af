import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { readFunctionTool, readToolList } from './chat-tools.ts'
import { invalidRequest } from './invalid-request.ts'
import { functionTool, isNativeTool } from './native-tools.ts'

/** Mode and function name that a `tool_choice` stands for. */
interface Choice {
  readonly mode: 'AUTO' | 'ANY' | 'NONE'
  readonly name?: string
}

/**
 * `tools` and `toolConfig` for the tools of a chat call; members that are not needed are absent.
 * Tools that are not functions are skipped. Throws GatewayError `invalid_request`.
 */
export function googleTools(body: JsonObject): JsonObject {
  const functionDeclarations = readToolList(body.tools).flatMap((tool, index) => {
    const declaration = declarationOf(tool, `tools.${index}`)
    return declaration === undefined ? [] : [declaration]
  })
  const offered = functionDeclarations.length > 0
  const { tool_choice: value } = body
  if (offered) refuseSerialCalls(body)
  const choice = value === undefined || value === null ? undefined : readChoice(value)
  if (choice?.mode === 'ANY' && !offered) {
    throw invalidRequest('tool_choice asks for a tool, but tools holds no function')
  }
  return {
    ...(offered && choice?.mode !== 'NONE' ? { tools: [{ functionDeclarations }] } : {}),
    ...(choice === undefined || !offered ? {} : { toolConfig: toolConfig(choice) }),
  }
}

function declarationOf(tool: JsonValue, field: string): JsonObject | undefined {
  const declared = readFunctionTool(isNativeTool(tool) ? functionTool(tool) : tool, field)
  if (declared === undefined) return undefined
  const { name, description, parameters } = declared
  return {
    name,
    ...(description === undefined ? {} : { description }),
    parametersJsonSchema: parameters,
  }
}

function refuseSerialCalls({ parallel_tool_calls: parallel, tool_choice: choice }: JsonObject) {
  const disabled = isJsonObject(choice) && choice.disable_parallel_tool_use === true
  if (parallel !== false && !disabled) return
  throw invalidRequest('parallel_tool_calls: false is not supported by this model')
}

function readChoice(value: JsonValue): Choice {
  const word = isJsonObject(value) ? value.type : value
  if (word === 'auto') return { mode: 'AUTO' }
  if (word === 'none') return { mode: 'NONE' }
  if (word === 'required' || word === 'any') return { mode: 'ANY' }
  const owner = isJsonObject(value) && word === 'function' ? value.function : value
  if ((word === 'function' || word === 'tool') && isJsonObject(owner)) {
    const { name } = owner
    if (typeof name === 'string' && name !== '') return { mode: 'ANY', name }
  }
  throw invalidRequest('tool_choice must be auto, none, required or a named function')
}

function toolConfig({ mode, name }: Choice): JsonObject {
  return {
    functionCallingConfig: {
      mode,
      ...(name === undefined ? {} : { allowedFunctionNames: [name] }),
    },
  }
}
