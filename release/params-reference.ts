import { join } from 'node:path'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { messagesToChat } from '../plugins/api-messages/to-chat/conversion.ts'
import { readMessages } from '../plugins/api-messages/to-chat/request.ts'
import { googleRequest } from '../providers/_shared/google-content-request.ts'
import { invokeMessages, rawPredictMessages } from '../providers/_shared/messages-dialect.ts'
import { messagesRequest } from '../providers/_shared/messages-request.ts'
import { responsesRequest } from '../providers/_shared/responses-chat-request.ts'
import { createToolNames, GOOGLE_NAMES, NAMES_OF_64 } from '../providers/_shared/tool-names.ts'
import { unifiedRequest } from '../providers/cloud-b-ml/unified-request.ts'

/**
 * Returns the request that a conversion sends; calls `dropped` with each member that it leaves out.
 */
type Convert = (body: JsonObject, dropped: (name: string) => void) => unknown

const messages = [{ role: 'user', content: 'hi' }]
const fn = { name: 'f', parameters: { type: 'object' } }
const tools = [{ type: 'function', function: fn }]

/** Members of chat calls, each with a value that is not its default. */
const CHAT: Readonly<Record<string, JsonValue>> = {
  audio: { voice: 'alloy', format: 'wav' },
  frequency_penalty: 0.5,
  logit_bias: { 1: 2 },
  logprobs: true,
  max_completion_tokens: 90,
  max_tokens: 70,
  metadata: { team: 'a' },
  modalities: ['text', 'audio'],
  n: 2,
  parallel_tool_calls: false,
  prediction: { type: 'content', content: 'x' },
  presence_penalty: 1,
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  reasoning_effort: 'low',
  response_format: { type: 'json_schema', json_schema: { name: 'o', schema: { type: 'object' } } },
  safety_identifier: 's',
  seed: 7,
  service_tier: 'flex',
  stop: ['END'],
  store: true,
  temperature: 0.5,
  tool_choice: 'required',
  tools: [...tools, { type: 'function', function: { ...fn, name: 'g' } }],
  top_logprobs: 3,
  top_p: 0.5,
  user: 'u',
  verbosity: 'low',
  web_search_options: {},
  'any other member': 1,
}

/** Members of messages calls. */
const MESSAGES: Readonly<Record<string, JsonValue>> = {
  anthropic_beta: ['b'],
  cache_control: { type: 'ephemeral' },
  container: 'c',
  context_management: { edits: [] },
  mcp_servers: [{ type: 'url', url: 'https://x', name: 'x' }],
  metadata: { user_id: 'u' },
  output_config: { effort: 'low' },
  service_tier: 'standard_only',
  stop_sequences: ['END'],
  system: 'be short',
  temperature: 0.5,
  thinking: { type: 'enabled', budget_tokens: 1024 },
  tool_choice: { type: 'any' },
  top_k: 5,
  top_p: 0.5,
  'any other member': 1,
}

const claude = 'anthropic.claude-sonnet-4-6-v1:0'

const FROM_CHAT: Readonly<Record<string, Convert>> = {
  '`upstream_api: responses`': (body, dropped) =>
    responsesRequest(
      body,
      { stream: false, dropped },
      {
        upstreamModel: 'gpt-5.5',
        names: createToolNames(NAMES_OF_64),
        storable: true,
        memory: 'whole',
      },
    ),
  'Gemini on Vertex AI': (body, dropped) =>
    googleRequest(
      { body, stream: false, dropped },
      { upstreamModel: 'google/gemini-2.5-flash' },
      createToolNames(GOOGLE_NAMES),
    ),
  'Claude on Vertex AI': (body, dropped) =>
    messagesRequest(
      { dialect: rawPredictMessages, upstreamModel: 'claude-sonnet-4-6', extraBody: {} },
      { body, stream: false, dropped },
    ).body,
  'Claude, `runtime_native_invoke`': (body, dropped) =>
    messagesRequest(
      { dialect: invokeMessages, upstreamModel: claude, extraBody: {} },
      { body, stream: false, dropped },
    ).body,
  'Claude, `runtime_unified`': (body, dropped) =>
    unifiedRequest({ upstreamModel: claude, extraBody: {} }, { body, dropped }).body,
  'others, `runtime_unified`': (body, dropped) =>
    unifiedRequest({ upstreamModel: 'amazon.nova-pro-v1:0', extraBody: {} }, { body, dropped })
      .body,
}

const toChat =
  (compatShape: boolean): Convert =>
  (body, dropped) => {
    const route = {
      bound: {
        execute: {},
        supports: [],
        pricing: { pricingProviderId: undefined, model: 'm' },
        compatShape,
        takesEffort: true,
      },
      capabilities: { json_schema: true },
      spec: {},
    }
    const call = messagesToChat.request(readMessages(body, null))(route)
    for (const name of call.dropped ?? []) dropped(name)
    return call.body
  }
const FROM_MESSAGES: Readonly<Record<string, Convert>> = {
  'compatible upstreams': toChat(true),
  others: toChat(false),
}

function outcome(convert: Convert, base: JsonObject, name: string, value: JsonValue): string {
  const left: string[] = []
  const send = (body: JsonObject) => JSON.stringify(convert(body, (one) => void left.push(one)))
  const plain = send(base)
  left.length = 0
  try {
    const { max_tokens: limit, ...rest } = base
    // The two names of the limit replace each other.
    const others = name.startsWith('max_') ? rest : { ...rest, max_tokens: limit }
    const changed = send({ ...others, [name]: value })
    if (left.length > 0) return 'dropped'
    return changed === plain ? 'no effect' : 'sent'
  } catch {
    return '400'
  }
}

function table(
  conversions: Readonly<Record<string, Convert>>,
  members: Readonly<Record<string, JsonValue>>,
  base: (name: string) => JsonObject,
): string {
  const rows = Object.entries(members).map(([name, value]) => [
    name.includes(' ') ? name : `\`${name}\``,
    ...Object.values(conversions).map((convert) => outcome(convert, base(name), name, value)),
  ])
  const all = [['Member', ...Object.keys(conversions)], ...rows]
  const widths = all[0]?.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0))) ?? []
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = all
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}

/** Two tables: what happens to each member of a call that is converted for its upstream. */
export function paramsReference(): string {
  const chat = (name: string): JsonObject => ({
    model: 'm',
    messages,
    max_tokens: 50,
    ...(name === 'tool_choice' || name === 'parallel_tool_calls' ? { tools } : {}),
  })
  const ofMessages = (name: string): JsonObject => ({
    model: 'm',
    messages,
    max_tokens: 50,
    ...(name === 'tool_choice' ? { tools: [{ name: 'f', input_schema: { type: 'object' } }] } : {}),
  })
  return `### Chat calls

${table(FROM_CHAT, CHAT, chat)}

### Messages calls on routes that are not native

${table(FROM_MESSAGES, MESSAGES, ofMessages)}
`
}

export const PARAMS_PAGE = join(import.meta.dir, '../docs/dropped-parameters.md')
export const MARK = '<!-- The tables below are generated: bun run docs:params -->\n'

if (import.meta.main) {
  const page = await Bun.file(PARAMS_PAGE).text()
  const [before] = page.split(MARK)
  await Bun.write(PARAMS_PAGE, `${before}${MARK}\n${paramsReference()}`)
}
