import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { type Question, type Tool, tokensOf } from './answer.ts'

/** Reads a chat completions request. Throws `invalid_request` without messages. */
export function readChat(body: JsonObject): Question {
  const format = isJsonObject(body.response_format) ? body.response_format : {}
  const wrapped = isJsonObject(format.json_schema) ? format.json_schema.schema : undefined
  return readConversation(body, turnsOf(body.messages, 'messages'), {
    schema: schemaOf(format, wrapped),
    maxTokens: body.max_completion_tokens ?? body.max_tokens,
  })
}

/** Reads a responses request. Throws `invalid_request` without input. */
export function readResponses(body: JsonObject): Question {
  const text = isJsonObject(body.text) ? body.text : {}
  const format = isJsonObject(text.format) ? text.format : {}
  const turns =
    typeof body.input === 'string'
      ? [{ role: 'user', content: body.input }]
      : turnsOf(body.input, 'input')
  return readConversation(body, turns, {
    schema: schemaOf(format, format.schema),
    maxTokens: body.max_output_tokens,
  })
}

function readConversation(
  body: JsonObject,
  turns: readonly JsonObject[],
  limits: { schema: JsonObject | undefined; maxTokens: JsonValue | undefined },
): Question {
  const lastUser = turns.findLast((turn) => turn.role === 'user')
  const last = turns.at(-1)
  const tools = Array.isArray(body.tools) ? body.tools : []
  const instructions = typeof body.instructions === 'string' ? body.instructions.length : 0
  const characters =
    instructions +
    turns.reduce((sum, turn) => sum + textOf(turn.content ?? turn.output).length, 0) +
    (tools.length === 0 ? 0 : JSON.stringify(tools).length)
  const { schema, maxTokens } = limits
  return {
    text: textOf(lastUser?.content),
    toolResult: toolResultOf(last),
    images: imagesIn(lastUser?.content),
    tools: tools.flatMap(readTool),
    toolChoice: readToolChoice(body.tool_choice),
    schema,
    maxTokens: typeof maxTokens === 'number' && maxTokens > 0 ? maxTokens : undefined,
    promptTokens: Math.max(1, tokensOf(characters)),
  }
}

function turnsOf(value: JsonValue | undefined, field: string): JsonObject[] {
  if (Array.isArray(value) && value.length > 0 && value.every(isJsonObject)) return value
  throw new GatewayError('invalid_request', `${field} must be a list of objects and not empty`)
}

/** `{}` is any object, `undefined` free text. */
function schemaOf(format: JsonObject, schema: JsonValue | undefined): JsonObject | undefined {
  if (format.type === 'json_schema') return isJsonObject(schema) ? schema : {}
  return format.type === 'json_object' ? {} : undefined
}

function toolResultOf(turn: JsonObject | undefined): string | undefined {
  if (turn?.role === 'tool') return textOf(turn.content)
  return turn?.type === 'function_call_output' ? textOf(turn.output) : undefined
}

/** Function tools of both APIs, and tools in the messages API's format. */
function readTool(tool: JsonValue): Tool[] {
  if (!isJsonObject(tool)) return []
  const definition = isJsonObject(tool.function) ? tool.function : tool
  const { name } = definition
  if (typeof name !== 'string') return []
  return [{ name, schema: definition.parameters ?? definition.input_schema }]
}

function readToolChoice(choice: JsonValue | undefined): Question['toolChoice'] {
  if (choice === 'none' || choice === 'required') return choice
  if (!isJsonObject(choice)) return 'auto'
  const name = isJsonObject(choice.function) ? choice.function.name : choice.name
  if (typeof name === 'string') return { name }
  if (choice.type === 'none') return 'none'
  return choice.type === 'any' ? 'required' : 'auto'
}

function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : ''))
    .filter((text) => text !== '')
    .join(' ')
}

function imagesIn(content: JsonValue | undefined): number {
  if (!Array.isArray(content)) return 0
  return content.filter(
    (part) => isJsonObject(part) && (part.type === 'image_url' || part.type === 'input_image'),
  ).length
}
