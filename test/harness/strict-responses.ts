/** What OpenAI's responses API refuses, in its own words. */
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { fail, listOf } from './strict-rules.ts'

/** https://developers.openai.com/api/reference/resources/responses/methods/create */
const REQUEST = [
  ...['background', 'context_management', 'conversation', 'include', 'input', 'instructions'],
  ...['max_output_tokens', 'max_tool_calls', 'metadata', 'model', 'moderation'],
  ...['parallel_tool_calls', 'previous_response_id', 'prompt', 'prompt_cache_key'],
  ...['prompt_cache_options', 'prompt_cache_retention', 'reasoning', 'safety_identifier'],
  ...['service_tier', 'store', 'stream', 'stream_options', 'temperature', 'text', 'tool_choice'],
  ...['tools', 'top_logprobs', 'top_p', 'truncation', 'user'],
  // Not in the reference: Codex sends it with API keys, too. (openai/codex#27122)
  'client_metadata',
]

/** Members of items, parts and tools by their type. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  message: ['type', 'role', 'content', 'id', 'status', 'phase'],
  function_call: ['type', 'id', 'call_id', 'name', 'arguments', 'status'],
  custom_tool_call: ['type', 'id', 'call_id', 'name', 'input', 'status'],
  function_call_output: ['type', 'id', 'call_id', 'output', 'status'],
  custom_tool_call_output: ['type', 'id', 'call_id', 'output'],
  reasoning: ['type', 'id', 'summary', 'content', 'encrypted_content'],
  input_text: ['type', 'text', 'prompt_cache_breakpoint'],
  input_image: ['type', 'image_url', 'file_id', 'detail', 'prompt_cache_breakpoint'],
  input_file: [
    ...['type', 'file_data', 'file_id', 'file_url', 'filename', 'detail'],
    'prompt_cache_breakpoint',
  ],
  output_text: ['type', 'text', 'annotations', 'logprobs'],
  refusal: ['type', 'refusal'],
  function: ['type', 'name', 'description', 'parameters', 'strict'],
  custom: ['type', 'name', 'description', 'format'],
  namespace: ['type', 'name', 'description', 'tools'],
}

/** Tools that OpenAI runs, or knows by their type: the rest of `Tool` of the package `openai` (7.55.0). */
const KNOWN_TOOLS = [
  ...['apply_patch', 'code_interpreter', 'computer', 'computer_use_preview', 'file_search'],
  ...['image_generation', 'local_shell', 'mcp', 'programmatic_tool_calling', 'shell'],
  ...['tool_search', 'web_search', 'web_search_preview'],
]

const INPUT_PARTS = ['input_text', 'input_image', 'input_file']
const OUTPUT_PARTS = ['output_text', 'refusal']
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const INCLUDABLE = ['reasoning.encrypted_content', 'message.output_text.logprobs']

const NAME = /^[a-zA-Z0-9_-]+$/

/** Models that do not reason: the ones of the tests. */
const PLAIN = /^gpt-4/

/** Fails for a request that is refused. */
export function checkResponses(body: JsonObject): void {
  known(body, REQUEST, '')
  if (typeof body.model !== 'string') fail("Missing required parameter: 'model'.")
  const limit = body.max_output_tokens
  if (limit !== undefined && !(Number.isInteger(limit) && (limit as number) >= 16)) {
    fail(
      `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${String(limit)} instead.`,
    )
  }
  checkReasoning(body)
  checkText(body.text)
  checkTools(body)
  checkInput(body)
  for (const [name, value] of Object.entries(objectOr(body.metadata))) {
    if (typeof value !== 'string') fail(`Invalid type for 'metadata.${name}': expected a string`)
  }
  if (body.stream_options !== undefined && body.stream !== true) {
    fail("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
  }
}

function known(value: JsonObject, members: readonly string[], at: string): void {
  const odd = Object.keys(value).find((key) => !members.includes(key))
  if (odd !== undefined) fail(`Unknown parameter: '${at}${odd}'.`)
}

function checkReasoning({ model, reasoning, include }: JsonObject): void {
  for (const name of listOf(include)) {
    if (!INCLUDABLE.includes(String(name))) fail(`Invalid value: '${String(name)}'.`)
    if (name === 'reasoning.encrypted_content' && PLAIN.test(String(model))) {
      fail('Encrypted content is not supported with this model.')
    }
  }
  if (reasoning === undefined) return
  const { effort } = objectOr(reasoning)
  known(objectOr(reasoning), ['effort', 'summary', 'context', 'mode'], 'reasoning.')
  if (PLAIN.test(String(model))) {
    fail("Unsupported parameter: 'reasoning.effort' is not supported with this model.")
  }
  if (effort !== undefined && !EFFORTS.includes(String(effort))) {
    fail(`Invalid value: '${String(effort)}'. Supported values are: 'none', …`)
  }
}

function checkText(text: JsonValue | undefined): void {
  if (text === undefined) return
  known(objectOr(text), ['format', 'verbosity'], 'text.')
  const { format } = objectOr(text)
  if (format === undefined) return
  const { type, name, schema } = objectOr(format)
  if (type !== 'json_schema') return
  known(objectOr(format), ['type', 'name', 'description', 'schema', 'strict'], 'text.format.')
  if (typeof name !== 'string') fail("Missing required parameter: 'text.format.name'.")
  if (!isJsonObject(schema)) fail("Missing required parameter: 'text.format.schema'.")
}

function checkTools({ tools, tool_choice: choice }: JsonObject): void {
  const names = listOf(tools).flatMap((tool, i) => checkTool(objectOr(tool), `tools[${i}]`))
  if (choice === undefined || typeof choice === 'string') return
  const { type, name, tools: allowed } = objectOr(choice)
  const asked =
    type === 'allowed_tools' ? listOf(allowed).map((tool) => objectOr(tool).name) : [name]
  const lost = asked.find((one) => !names.includes(one ?? null))
  if (lost !== undefined) fail(`Tool choice '${String(lost)}' not found in 'tools' parameter.`)
}

/** The names by which a tool, or what is in a namespace, can be chosen. */
function checkTool(tool: JsonObject, at: string): JsonValue[] {
  const { type, name, parameters, strict } = tool
  if (KNOWN_TOOLS.includes(String(type))) return []
  if (type !== 'function' && type !== 'custom' && type !== 'namespace') {
    fail(`Invalid value: '${String(type)}'.`)
  }
  known(tool, MEMBERS[type] ?? [], `${at}.`)
  checkName(name, `${at}.name`)
  if (type === 'namespace') {
    return listOf(tool.tools).flatMap((inner, i) => checkTool(objectOr(inner), `${at}.tools[${i}]`))
  }
  if (type === 'function' && !isJsonObject(parameters)) {
    fail(`Missing required parameter: '${at}.parameters'.`)
  }
  if (strict !== undefined && typeof strict !== 'boolean') {
    fail(`Invalid type for '${at}.strict': expected a boolean`)
  }
  return [name ?? null]
}

function checkName(name: JsonValue | undefined, at: string): void {
  if (typeof name !== 'string') fail(`Missing required parameter: '${at}'.`)
  if (!NAME.test(name)) {
    fail(
      `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    )
  }
  if (name.length > 64) {
    fail(`Invalid '${at}': string too long. Expected a string with maximum length 64.`)
  }
}

function checkInput({ input, store }: JsonObject): void {
  if (typeof input === 'string') return
  const items = listOf(input)
  if (items.length === 0) fail("One of 'input' or 'previous_response_id' must be provided.")
  const calls = new Map<string, string>()
  const answered = new Set<string>()
  for (const [i, value] of items.entries()) {
    const at = `input[${i}]`
    const item = objectOr(value)
    const { call_id } = item
    const type = item.type ?? (item.role === undefined ? null : 'message')
    known(item, MEMBERS[String(type)] ?? fail(`Invalid value: '${String(type)}'.`), `${at}.`)
    if (call_id !== undefined) checkName(call_id, `${at}.call_id`)
    const id = String(call_id)
    switch (type) {
      case 'message':
        checkMessage(item, at)
        break
      case 'function_call':
      case 'custom_tool_call': {
        checkName(item.name, `${at}.name`)
        const written = type === 'function_call' ? item.arguments : item.input
        if (typeof written !== 'string') fail(`Missing required parameter: '${at}.arguments'.`)
        if (calls.has(id)) fail(`Duplicate function_call for call_id ${id}.`)
        calls.set(id, `${type}_output`)
        break
      }
      case 'reasoning':
        checkThought(item, items[i + 1], store, at)
        break
      default:
        if (calls.get(id) !== type) {
          fail(`No tool call found for function call output with call_id ${id}.`)
        }
        if (answered.has(id)) fail(`Duplicate function_call_output for call_id ${id}.`)
        answered.add(id)
        if (typeof item.output !== 'string') checkParts(item.output, INPUT_PARTS, `${at}.output`)
    }
  }
  const open = [...calls.keys()].find((id) => !answered.has(id))
  if (open !== undefined) fail(`No tool output found for function call ${open}.`)
}

function checkMessage({ role, content }: JsonObject, at: string): void {
  if (!['user', 'assistant', 'system', 'developer'].includes(String(role))) {
    fail(`Invalid value: '${String(role)}'.`)
  }
  if (typeof content === 'string') return
  const kinds = role === 'assistant' ? OUTPUT_PARTS : role === 'user' ? INPUT_PARTS : ['input_text']
  checkParts(content, kinds, `${at}.content`)
}

function checkParts(parts: JsonValue | undefined, kinds: readonly string[], at: string): void {
  if (!Array.isArray(parts)) fail(`Invalid type for '${at}': expected an array`)
  if (parts.length === 0) {
    fail(`Invalid '${at}': empty array. Expected an array with minimum length 1.`)
  }
  for (const [i, part] of parts.entries()) {
    const { type, text, refusal, image_url, file_id, file_data, filename } = objectOr(part)
    if (!kinds.includes(String(type))) {
      fail(
        `Invalid value: '${String(type)}'. Supported values are: ${kinds.map((kind) => `'${kind}'`).join(', ')}.`,
      )
    }
    known(objectOr(part), MEMBERS[String(type)] ?? [], `${at}[${i}].`)
    if (String(type).endsWith('_text') && typeof text !== 'string') {
      fail(`Missing required parameter: '${at}[${i}].text'.`)
    }
    if (type === 'refusal' && typeof refusal !== 'string') {
      fail(`Missing required parameter: '${at}[${i}].refusal'.`)
    }
    if (type === 'input_image' && typeof (image_url ?? file_id) !== 'string') {
      fail(`Missing required parameter: '${at}[${i}].image_url'.`)
    }
    if (file_data !== undefined && !/\.\w+$/.test(String(filename))) {
      fail(`Invalid '${at}[${i}]': Expected file type to be a supported format, but got none.`)
    }
  }
}

/** vercel/ai#7543, vercel/ai#7099 */
function checkThought(
  { id, encrypted_content, summary }: JsonObject,
  next: JsonValue | undefined,
  store: JsonValue | undefined,
  at: string,
): void {
  if (!Array.isArray(summary)) fail(`Missing required parameter: '${at}.summary'.`)
  if (id !== undefined && !String(id).startsWith('rs_')) {
    fail(`Invalid '${at}.id': '${String(id)}'. Expected an ID that begins with 'rs'.`)
  }
  if (store === false && typeof encrypted_content !== 'string') {
    fail(
      `Item with id '${String(id)}' not found. Items are not persisted when \`store\` is set to false.`,
      404,
    )
  }
  const { type, role } = objectOr(next)
  const follows = type === 'reasoning' || String(type).endsWith('_call') || role === 'assistant'
  if (!follows) {
    fail(
      `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`,
    )
  }
}

function objectOr(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}
