/** What Anthropic's messages API refuses on the clouds, in its own words. */
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { checkPairs, fail, listOf } from './strict-rules.ts'

export type MessagesHost = 'vertex' | 'invoke' | 'mantle'

/** Members of `MessageCreateParams` of the package `@anthropic-ai/sdk` (1.14.0), betas included. */
const REQUEST = [
  ...['cache_control', 'container', 'context_management', 'fallbacks', 'inference_geo'],
  ...['max_tokens', 'mcp_servers', 'messages', 'metadata', 'output_config', 'service_tier'],
  ...['speed', 'stop_sequences', 'system', 'temperature', 'thinking', 'tool_choice', 'tools'],
  ...['top_k', 'top_p'],
]
const HOST: Readonly<Record<MessagesHost, readonly string[]>> = {
  vertex: ['anthropic_version', 'anthropic_beta', 'stream'],
  invoke: ['anthropic_version', 'anthropic_beta'],
  mantle: ['model', 'stream'],
}

/** Members by the type of a block, beside `type` and `cache_control`. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'citations'],
  image: ['source', 'transformations'],
  document: ['source', 'title', 'context', 'citations'],
  tool_use: ['id', 'name', 'input', 'caller'],
  tool_result: ['tool_use_id', 'content', 'is_error'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
}
const TOOL = [
  ...['type', 'name', 'description', 'input_schema', 'cache_control', 'strict', 'defer_loading'],
  ...['input_examples', 'allowed_callers', 'eager_input_streaming'],
]

/** anthropics/claude-code#21625, #49370, #49648, #56595: betas that the vendor alone takes. */
const VENDOR_ONLY =
  /^(?:claude-code|prompt-caching-scope|oauth|files-api|skills|mcp-client|extended-cache-ttl|fast-mode|advanced-tool-use|unknown)-/

/** nicobailon/pi-mcp-adapter#190 */
const NAME = /^[a-zA-Z0-9_-]{1,128}$/
const ID = /^[a-zA-Z0-9_-]+$/

/** BerriAI/litellm#13825, anthropics/claude-code#31033 */
function known(value: JsonObject, members: readonly string[], at: string): void {
  for (const key of Object.keys(value)) {
    if (!members.includes(key)) fail(`${at}${key}: Extra inputs are not permitted`)
  }
}

/**
 * Models that take instructions in the middle of a conversation.
 * (docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-mid-conversation-system.html,
 * langchain-ai/langchainjs#11922)
 */
const TAKES_SYSTEM_TURNS = /claude-(?:opus-(?:4-8|[5-9])|(?:sonnet|haiku|fable|mythos)-[5-9])/

/** Fails for a request that is refused. `model` has the model's name in it. */
export function checkMessagesRequest(host: MessagesHost, body: JsonObject, model = ''): void {
  known(body, [...REQUEST, ...HOST[host]], '')
  if (host !== 'mantle' && typeof body.anthropic_version !== 'string') {
    fail('anthropic_version: Field required')
  }
  if (!Number.isInteger(body.max_tokens)) fail('max_tokens: Field required')
  checkBetas(host, body)
  if (isJsonObject(body.metadata)) known(body.metadata, ['user_id'], 'metadata.')
  for (const sequence of listOf(body.stop_sequences)) {
    // BerriAI/litellm#3286
    if (String(sequence).trim() === '') {
      fail('stop_sequences: each stop sequence must contain non-whitespace')
    }
  }
  const thinks = isJsonObject(body.thinking) && body.thinking.type !== 'disabled'
  if (thinks && (body.temperature ?? 1) !== 1) {
    // danny-avila/LibreChat#11949
    fail('`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.')
  }
  checkTools(body)
  checkMessages(body, TAKES_SYSTEM_TURNS.test(model))
  if (isJsonObject(body.thinking) && body.thinking.type === 'enabled') checkThought(body)
  const marks = JSON.stringify([body.tools, body.system, body.messages]).split('"cache_control":{')
  if (marks.length > 5) {
    // envoyproxy/ai-gateway#1712
    fail(`A maximum of 4 blocks with cache_control may be provided. Found ${marks.length - 1}.`)
  }
}

/** Betas, and what is "not permitted" without them: Wei-Shaw/sub2api#2726, anthropics/claude-code#11678. */
function checkBetas(host: MessagesHost, body: JsonObject): void {
  if (host === 'mantle') return
  const betas = listOf(body.anthropic_beta).map(String)
  const unknown = betas.find((beta) => VENDOR_ONLY.test(beta))
  if (unknown !== undefined && host === 'invoke') fail('invalid beta flag')
  if (unknown !== undefined) {
    fail(`Unexpected value(s) \`${unknown}\` for the \`anthropic-beta\` header.`)
  }
  const needs = (member: string, beta: string) => {
    if (betas.some((each) => each.startsWith(beta))) return
    fail(`${member}: Extra inputs are not permitted`)
  }
  if (body.context_management !== undefined) needs('context_management', 'con')
  if (body.mcp_servers !== undefined) needs('mcp_servers', 'mcp-client')
  for (const tool of listOf(body.tools)) {
    if (isJsonObject(tool) && tool.input_examples !== undefined) {
      needs('tools.0.custom.input_examples', 'tool-examples')
    }
  }
  if (/"cache_control":\{[^}]*"scope"/.test(JSON.stringify([body.tools, body.system]))) {
    fail('system.0.cache_control.ephemeral.scope: Extra inputs are not permitted')
  }
  if (JSON.stringify(body.system ?? '').includes('x-anthropic-billing-header')) {
    fail(
      'x-anthropic-billing-header is a reserved keyword and may not be used in the system prompt.',
    )
  }
}

function checkTools({ tools, tool_choice: choice }: JsonObject): void {
  for (const [i, tool] of listOf(tools).entries()) {
    if (!isJsonObject(tool)) fail(`tools.${i}: Input should be an object`)
    if ((tool.type ?? 'custom') !== 'custom') continue
    known(tool, TOOL, `tools.${i}.custom.`)
    checkName(tool.name, `tools.${i}.custom.name`)
    if (!isJsonObject(tool.input_schema)) fail(`tools.${i}.custom.input_schema: Field required`)
  }
  if (choice === undefined) return
  if (!isJsonObject(choice)) fail('tool_choice: Input should be an object')
  known(choice, ['type', 'name', 'disable_parallel_tool_use'], `tool_choice.${choice.type}.`)
  if (listOf(tools).length === 0) fail('tool_choice: may only be specified while providing tools')
}

function checkName(name: JsonValue | undefined, at: string): void {
  if (typeof name === 'string' && NAME.test(name)) return
  fail(`${at}: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
}

function checkMessages({ messages }: JsonObject, takesSystemTurns: boolean): void {
  const turns = listOf(messages) as JsonObject[]
  if (turns.length === 0) fail('messages: at least one message is required')
  if (turns[0]?.role !== 'user') fail('messages: first message must use the "user" role')
  for (const [i, turn] of turns.entries()) {
    known(turn, ['role', 'content'], `messages.${i}.`)
    if (turn.role === 'system' && takesSystemTurns) checkSystemTurn(turns, i)
    else if (turn.role !== 'user' && turn.role !== 'assistant') fail(`messages.${i}.role`)
    if (turn.content === '' || (Array.isArray(turn.content) && turn.content.length === 0)) {
      fail(`messages.${i}: all messages must have non-empty content`)
    }
    checkBlocks(turn.content, `messages.${i}.content`)
  }
  const { role, content } = turns.at(-1) as JsonObject
  const end = Array.isArray(content) ? content.at(-1) : { text: content }
  const text = isJsonObject(end) ? end.text : undefined
  if (role === 'assistant' && typeof text === 'string' && text !== text.trimEnd()) {
    // tailcallhq/forgecode#1872
    fail('messages: final assistant content cannot end with trailing whitespace')
  }
  checkPairs(joined(turns), ({ type, id, tool_use_id }) => {
    if (type === 'tool_use') return { call: id }
    return type === 'tool_result' ? { result: tool_use_id } : undefined
  })
}

/** After a turn of the user, before one of the assistant or at the end, and nothing but text. */
function checkSystemTurn(turns: readonly JsonObject[], i: number): void {
  const next = turns[i + 1]?.role ?? 'assistant'
  if (turns[i - 1]?.role !== 'user' || next !== 'assistant') {
    fail(`messages.${i}: a system message must follow a user message and precede an assistant one`)
  }
  for (const block of listOf(turns[i]?.content)) {
    if (!isJsonObject(block) || block.type !== 'text') fail(`messages.${i}: only text is supported`)
  }
}

/** anomalyco/opencode#3077: a turn that called tools begins with what was thought. */
function checkThought({ messages }: JsonObject): void {
  const [calls, results] = (listOf(messages) as JsonObject[]).slice(-2)
  const types = (turn: JsonObject | undefined) =>
    listOf(turn?.content).map((block) => (isJsonObject(block) ? block.type : undefined))
  if (!types(results).includes('tool_result')) return
  const [first] = types(calls)
  if (first !== 'thinking' && first !== 'redacted_thinking') {
    fail(`Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`.`)
  }
}

/** "Consecutive user or assistant turns will be combined into a single turn." */
function joined(turns: readonly JsonObject[]): JsonObject[] {
  const joined: { role: JsonValue; content: JsonValue[] }[] = []
  for (const { role = null, content } of turns) {
    const last = joined.at(-1)
    if (last?.role === role) last.content.push(...listOf(content))
    else joined.push({ role, content: [...listOf(content)] })
  }
  return joined
}

function checkBlocks(content: JsonValue | undefined, at: string): void {
  for (const [i, block] of listOf(content).entries()) {
    const place = `${at}.${i}`
    if (!isJsonObject(block)) fail(`${place}: Input should be an object`)
    const members = BLOCKS[String(block.type)]
    if (members === undefined) continue
    known(block, ['type', 'cache_control', ...members], `${place}.${block.type}.`)
    if (block.type === 'text' && String(block.text).trim() === '') {
      // NousResearch/hermes-agent#9486
      fail('messages: text content blocks must be non-empty')
    }
    if (block.type === 'tool_use') {
      checkName(block.name, `${place}.tool_use.name`)
      if (!ID.test(String(block.id))) fail(`${place}.tool_use.id: String should match pattern`)
      if (!isJsonObject(block.input)) fail(`${place}.tool_use.input: Input should be an object`)
    }
    if (block.type === 'tool_result') checkBlocks(block.content, `${place}.tool_result.content`)
  }
}
