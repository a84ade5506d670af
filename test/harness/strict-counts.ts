/** What the counters of tokens on the clouds refuse, in their own words. */
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { checkMessagesRequest, type MessagesHost } from './strict-messages.ts'
import { fail, listOf } from './strict-rules.ts'

/** Members of `MessageCountTokensParams` of the package `@anthropic-ai/sdk` (0.120.0), without betas. */
const REQUEST = [
  ...['cache_control', 'messages', 'model', 'output_config', 'system', 'thinking'],
  ...['tool_choice', 'tools', 'anthropic_version'],
]
/** Tools of the vendor that a client runs, as Bedrock lists them. */
const CLIENT_TOOLS = /^(?:custom|bash_\d+|text_editor_\d+|memory_\d+|computer_\d+)$/

/** The API of the vendor, which is told the model in the body. */
export function checkCount(host: MessagesHost, { model, ...body }: JsonObject): void {
  if (typeof model !== 'string') fail('model: Field required')
  for (const name of Object.keys(body)) {
    if (!REQUEST.includes(name)) fail(`${name}: Extra inputs are not permitted`)
  }
  checkCounted(body)
  checkMessagesRequest(host, { ...body, max_tokens: 1 }, model)
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html */
export function checkBedrockCount(path: string, { input, ...others }: JsonObject): void {
  // pydantic/pydantic-ai, cassettes of test_bedrock_count_tokens; PostHog/posthog#70515
  const known = /^\/model\/anthropic\.claude-(?!opus-4-8|fable-5)/.test(path)
  if (!known) fail("The provided model doesn't support counting tokens.")
  const { invokeModel } = isJsonObject(input) ? input : {}
  const { body } = isJsonObject(invokeModel) ? invokeModel : {}
  if (typeof body !== 'string' || Object.keys(others).length > 0) fail('Malformed input request')
  const inner = JSON.parse(Buffer.from(body, 'base64').toString()) as JsonObject
  checkCounted(inner)
  checkMessagesRequest('invoke', inner, path)
}

/** What a counter refuses of a request that would be answered. */
function checkCounted({ messages, tools }: JsonObject): void {
  for (const [i, tool] of listOf(tools).entries()) {
    const type = isJsonObject(tool) ? String(tool.type ?? 'custom') : ''
    if (CLIENT_TOOLS.test(type)) continue
    fail(
      `tools.${i}: Input tag '${type}' found using 'type' does not match any of the expected tags`,
    )
  }
  for (const [i, message] of listOf(messages).entries()) {
    checkSources(isJsonObject(message) ? message.content : undefined, `messages.${i}.content`)
  }
}

function checkSources(content: JsonValue | undefined, at: string): void {
  for (const [i, block] of listOf(content).entries()) {
    if (!isJsonObject(block)) continue
    const type = isJsonObject(block.source) ? block.source.type : undefined
    if (type === 'url' || type === 'file') {
      fail(`${at}.${i}.${block.type}.source: ${type} sources are not supported`)
    }
    checkSources(block.content, `${at}.${i}.${block.type}.content`)
  }
}
