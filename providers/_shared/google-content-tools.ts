import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import {
  bansParallelCalls,
  readFunctionTool,
  readToolChoice,
  readToolList,
  type ToolChoice,
} from './chat-tools.ts'
import { invalidRequest } from './invalid-request.ts'
import { functionTool, isNativeTool } from './native-tools.ts'

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY', function: 'ANY' } as const

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
  if (offered) refuseSerialCalls(body)
  const choice = readToolChoice(body.tool_choice, offered)
  return {
    ...(offered && choice?.kind !== 'none' ? { tools: [{ functionDeclarations }] } : {}),
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
  if (parallel !== false && !bansParallelCalls(choice)) return
  throw invalidRequest('parallel_tool_calls: false is not supported by this model')
}

function toolConfig(choice: ToolChoice): JsonObject {
  return {
    functionCallingConfig: {
      mode: modes[choice.kind],
      ...(choice.kind === 'function' && { allowedFunctionNames: [choice.name] }),
    },
  }
}
