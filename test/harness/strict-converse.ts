/** What Bedrock's Converse refuses, in its own words. */
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { checkPairs, fail, listOf } from './strict-rules.ts'

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
const REQUEST = [
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'guardrailConfig',
  'additionalModelRequestFields',
  'promptVariables',
  'additionalModelResponseFieldPaths',
  'requestMetadata',
  'performanceConfig',
  'serviceTier',
  'outputConfig',
]

/** Members of each object below the request, by the name under which it stands there. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  inferenceConfig: ['maxTokens', 'temperature', 'topP', 'stopSequences'],
  toolConfig: ['tools', 'toolChoice'],
  guardrailConfig: ['guardrailIdentifier', 'guardrailVersion', 'trace', 'streamProcessingMode'],
  performanceConfig: ['latency'],
  toolSpec: ['name', 'description', 'inputSchema', 'strict'],
  toolUse: ['toolUseId', 'name', 'input', 'type'],
  toolResult: ['toolUseId', 'content', 'status', 'type'],
  image: ['format', 'source'],
  document: ['format', 'name', 'source', 'context', 'citations'],
  cachePoint: ['type', 'ttl'],
}

/** Unions, of which one member is set. */
const BLOCKS = ['text', 'image', 'document', 'toolUse', 'toolResult', 'cachePoint', 'guardContent']
const RESULTS = ['text', 'json', 'image', 'document', 'video', 'searchResult']
const TOOLS = ['toolSpec', 'systemTool', 'cachePoint']
const CHOICES = ['auto', 'any', 'tool']

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const METADATA = /^[a-zA-Z0-9\s:_@$#=/+,.-]{0,256}$/

/** Models that take no cache point: the ones of the tests. (BerriAI/litellm#39210) */
const NO_CACHE = /claude-3-haiku|claude-3-5-sonnet-20240620|llama|mistral|nemotron/

function known(value: JsonObject, members: readonly string[], at: string): void {
  for (const key of Object.keys(value)) {
    // crmne/ruby_llm#586
    if (!members.includes(key)) {
      fail(
        `Malformed input request: ${at}: extraneous key [${key}] is not permitted, please reformat your input and try again.`,
      )
    }
  }
}

/** The one member of a union, and its checks. */
function one(value: JsonValue, members: readonly string[], at: string): [string, JsonValue] {
  if (!isJsonObject(value)) fail(`Malformed input request: ${at}: expected type: JSONObject`)
  known(value, members, at)
  const [[name, inner] = fail(`${at} has no member`), second] = Object.entries(value)
  if (second !== undefined) fail(`${at}: more than one member of a union is set`)
  const shape = MEMBERS[name]
  if (shape !== undefined) known(isJsonObject(inner) ? inner : fail(at), shape, `${at}/${name}`)
  return [name, inner as JsonValue]
}

/** Fails for a request that is refused. `path` names the model. */
export function checkConverse(path: string, body: JsonObject): void {
  known(body, REQUEST, '#')
  for (const [name, value] of Object.entries(body)) {
    const shape = MEMBERS[name]
    if (shape !== undefined) known(isJsonObject(value) ? value : fail(name), shape, `#/${name}`)
  }
  const entries = Object.entries(isJsonObject(body.requestMetadata) ? body.requestMetadata : {})
  if (entries.length > 16 || !entries.flat().every((text) => METADATA.test(String(text)))) {
    fail("Value at 'requestMetadata' failed to satisfy constraint")
  }
  const kinds = [...checkTools(path, body), ...checkSystem(body), ...checkMessages(body)]
  const points = kinds.filter((kind) => kind === 'cachePoint').length
  if (points > 4) fail(`A maximum of 4 blocks with cache_control may be provided. Found ${points}.`)
  if (points > 0 && NO_CACHE.test(path)) {
    fail('You invoked an unsupported model or your request did not allow prompt caching.', 403)
  }
  if (body.toolConfig === undefined && kinds.some((kind) => kind.startsWith('toolU'))) {
    // vxcontrol/pentagi#196
    fail('The toolConfig field must be defined when using toolUse and toolResult content blocks.')
  }
}

function checkTools(path: string, { toolConfig }: JsonObject): string[] {
  if (!isJsonObject(toolConfig)) return []
  const tools = listOf(toolConfig.tools)
  if (tools.length === 0)
    fail(
      "Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1",
    )
  const names: JsonValue[] = []
  const kinds = tools.map((tool, i) => {
    const [kind, inner] = one(tool, TOOLS, `#/toolConfig/tools/${i}`)
    const schema =
      isJsonObject(inner) && isJsonObject(inner.inputSchema) ? inner.inputSchema.json : {}
    if (path.includes('nova') && isJsonObject(schema)) {
      // zed-industries/zed#31815
      known(
        schema,
        ['type', 'properties', 'required'],
        `#/toolConfig/tools/${i}/toolSpec/inputSchema/json`,
      )
    }
    if (kind === 'toolSpec') names.push(nameOf(inner, `toolConfig.tools.${i}.member.toolSpec.name`))
    return kind
  })
  if (new Set(names).size < names.length) fail('The tool configuration has duplicate tool names.')
  if (toolConfig.toolChoice === undefined) return kinds
  const [kind, inner] = one(toolConfig.toolChoice, CHOICES, '#/toolConfig/toolChoice')
  if (kind === 'tool' && !names.includes((inner as JsonObject).name as JsonValue)) {
    fail('The tool of toolChoice is not among the tools.')
  }
  return kinds
}

function nameOf(owner: JsonValue, at: string): string {
  const name = isJsonObject(owner) ? owner.name : undefined
  // openclaw/openclaw#12892
  if (typeof name === 'string' && NAME.test(name)) return name
  return fail(
    `Value at '${at}' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`,
  )
}

function checkSystem({ system }: JsonObject): string[] {
  return listOf(system).map((entry, i) => {
    const [kind, text] = one(entry, ['text', 'cachePoint', 'guardContent'], `#/system/${i}`)
    if (kind === 'text') notBlank(text, 'SystemContentBlock', `system.${i}`)
    return kind
  })
}

function notBlank(text: JsonValue, owner: string, at: string): void {
  if (typeof text === 'string' && text.trim() !== '') return
  fail(
    `The text field in the ${owner} object at ${at} is blank. Add text to the text field, and try again.`,
  )
}

function checkMessages({ messages }: JsonObject): string[] {
  const turns = listOf(messages) as JsonObject[]
  const kinds: string[] = []
  if (turns[0]?.role !== 'user') {
    // langgenius/dify#12340
    fail(
      'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
    )
  }
  for (const [i, turn] of turns.entries()) {
    known(turn, ['role', 'content'], `#/messages/${i}`)
    if (turn.role !== (i % 2 === 0 ? 'user' : 'assistant')) {
      // langgenius/dify#9294
      fail(
        'A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.',
      )
    }
    const content = listOf(turn.content)
    if (content.length === 0)
      fail(`The content field in the Message object at messages.${i} is empty.`)
    const own = content.map((block, j) => checkBlock(block, `messages.${i}.content.${j}`))
    if (own.includes('document') && !own.includes('text')) {
      fail(`messages.${i}: a document needs a text block in the same message.`)
    }
    kinds.push(...own)
  }
  const last = listOf(turns.at(-1)?.content).at(-1)
  const text = isJsonObject(last) ? last.text : undefined
  if (turns.at(-1)?.role === 'assistant' && typeof text === 'string' && text !== text.trimEnd()) {
    fail('messages: final assistant content cannot end with trailing whitespace')
  }
  checkPairs(turns, (block) => {
    const { toolUse, toolResult } = block
    if (isJsonObject(toolUse)) return { call: toolUse.toolUseId }
    return isJsonObject(toolResult) ? { result: toolResult.toolUseId } : undefined
  })
  return kinds
}

function checkBlock(block: JsonValue, at: string): string {
  const [kind, inner] = one(block, BLOCKS, `#/${at.replaceAll('.', '/')}`)
  if (kind === 'text') notBlank(inner, 'ContentBlock', at)
  if (kind === 'toolUse') nameOf(inner, `${at}.toolUse.name`)
  if ((kind === 'toolUse' || kind === 'toolResult') && isJsonObject(inner)) {
    if (!NAME.test(String(inner.toolUseId))) {
      fail(
        `Value at '${at}.${kind}.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`,
      )
    }
    for (const [i, part] of listOf(inner.content).entries()) {
      one(part, RESULTS, `#/${at.replaceAll('.', '/')}/toolResult/content/${i}`)
    }
  }
  return kind
}
