/** What callers ask in each cell of the matrix, and what each upstream must be sent for it. */
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { spoken } from '../../harness/upstream.ts'
import { type Asked, type MatrixRoute, question, type Scenario } from './provider-matrix.fixture.ts'

const SYSTEM = 'Be brief.'
const RESULT = '{"sky":"clear"}'
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const parameters: JsonObject = { type: 'object', properties: { city: { type: 'string' } } }
const description = 'The weather in a city'
const name = 'get_weather'
const id = spoken.callId
const args = spoken.arguments.join('')
const input: JsonObject = JSON.parse(args)

/** The caller's body. */
export function requestFor(
  model: string,
  family: Asked,
  stream: boolean,
  scenario: Scenario,
): JsonObject {
  const common = { model, ...(stream ? { stream } : {}) }
  switch (family) {
    case 'chat_completions':
      return {
        ...common,
        max_tokens: 100,
        // Upstreams of the generic styles count in a stream only when they are asked to.
        ...(stream ? { stream_options: { include_usage: true } } : {}),
        ...chatFields(scenario),
      }
    case 'messages':
      return { ...common, max_tokens: 100, ...messagesFields(scenario) }
    case 'responses':
      return { ...common, max_output_tokens: 100, ...responsesFields(scenario) }
    case 'embeddings':
      return { ...common, input: ['river', 'sea'] }
  }
}

function chatFields(scenario: Scenario): JsonObject {
  const system = { role: 'system', content: SYSTEM }
  const user = { role: 'user', content: question }
  const tools = [{ type: 'function', function: { name, description, parameters } }]
  switch (scenario) {
    case 'tools':
      return { messages: [system, user], tools, tool_choice: 'required' }
    case 'results': {
      const call = { id, type: 'function', function: { name, arguments: args } }
      const assistant = { role: 'assistant', content: null, tool_calls: [call] }
      const tool = { role: 'tool', tool_call_id: id, content: RESULT }
      return { messages: [system, user, assistant, tool], tools }
    }
    case 'images': {
      const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } }
      const content = [{ type: 'text', text: question }, image]
      return { messages: [system, { role: 'user', content }] }
    }
    case 'reasoning':
      return { messages: [system, user], reasoning_effort: 'low' }
    default:
      return { messages: [system, user] }
  }
}

function messagesFields(scenario: Scenario): JsonObject {
  const user = { role: 'user', content: question }
  const tools = [{ name, description, input_schema: parameters }]
  switch (scenario) {
    case 'tools':
      return { system: SYSTEM, messages: [user], tools, tool_choice: { type: 'any' } }
    case 'results': {
      const assistant = { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] }
      const result = { type: 'tool_result', tool_use_id: id, content: RESULT }
      const messages = [user, assistant, { role: 'user', content: [result] }]
      return { system: SYSTEM, messages, tools }
    }
    case 'images': {
      const source = { type: 'base64', media_type: 'image/png', data: PIXEL }
      const content = [
        { type: 'text', text: question },
        { type: 'image', source },
      ]
      return { system: SYSTEM, messages: [{ role: 'user', content }] }
    }
    case 'reasoning':
      return {
        system: SYSTEM,
        messages: [user],
        thinking: { type: 'adaptive' },
        output_config: { effort: 'low' },
      }
    default:
      return { system: SYSTEM, messages: [user], metadata: { user_id: 'u-1' } }
  }
}

function responsesFields(scenario: Scenario): JsonObject {
  const user = { role: 'user', content: question }
  const tools = [{ type: 'function', name, description, parameters }]
  switch (scenario) {
    case 'tools':
      return { instructions: SYSTEM, input: question, tools, tool_choice: 'required' }
    case 'results': {
      const call = { type: 'function_call', call_id: id, name, arguments: args }
      const output = { type: 'function_call_output', call_id: id, output: RESULT }
      return { instructions: SYSTEM, input: [user, call, output], tools }
    }
    case 'images': {
      const content = [
        { type: 'input_text', text: question },
        { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` },
      ]
      return { instructions: SYSTEM, input: [{ role: 'user', content }] }
    }
    case 'reasoning':
      return { instructions: SYSTEM, input: question, reasoning: { effort: 'low' } }
    default:
      return { instructions: SYSTEM, input: question }
  }
}

/** What the upstream of a route must be sent for it; the same for a chat and a messages request. */
export function outboundFor(
  { wire, upstreamModel, provider }: MatrixRoute,
  family: Asked,
  stream: boolean,
  scenario: Scenario,
): JsonObject {
  const user = family === 'messages' && (scenario === 'text' || scenario === 'errors')
  switch (wire) {
    case 'openai': {
      const asked = requestFor(
        upstreamModel,
        family === 'messages' ? 'chat_completions' : family,
        stream,
        scenario,
      )
      // Only the profile of the compat providers makes up for what a messages request cannot say.
      if (family === 'messages' && provider === 'cloud_b_ml') delete asked.stream_options
      return { ...asked, ...(user ? { user: 'u-1' } : {}) }
    }
    case 'google':
      return contentBody(scenario, provider === 'gemini' ? { id } : {})
    case 'converse':
      return converseBody(scenario)
    case 'predict':
      return { instances: [{ content: 'river' }, { content: 'sea' }] }
    case 'batchEmbedContents':
      return {
        requests: ['river', 'sea'].map((text) => ({
          model: `models/${upstreamModel}`,
          content: { parts: [{ text }] },
        })),
      }
    case 'embedContent':
      return { content: { parts: [{ text: 'river' }] } }
    default: {
      const host = nativeBody(wire, upstreamModel, stream)
      if (family !== 'messages') return { ...host, ...nativeFields(wire, scenario) }
      // Its own API goes out as it came.
      const { model: _, stream: __, ...asked } = requestFor(upstreamModel, family, stream, scenario)
      return { ...asked, ...host }
    }
  }
}

function nativeBody(wire: MatrixRoute['wire'], model: string, stream: boolean): JsonObject {
  const body = { max_tokens: 100, system: SYSTEM }
  if (wire === 'rawPredict') return { ...body, anthropic_version: 'vertex-2023-10-16', stream }
  if (wire === 'invoke') return { ...body, anthropic_version: 'bedrock-2023-05-31' }
  return { ...body, model, ...(stream ? { stream } : {}) }
}

function nativeFields(wire: MatrixRoute['wire'], scenario: Scenario): JsonObject {
  const { messages, metadata: _, system: __, ...rest } = messagesFields(scenario)
  // Bedrock is sent lists of blocks; Vertex AI and the vendor a text as it was written.
  const blocks = (content: JsonValue | undefined): JsonValue =>
    typeof content === 'string' && wire !== 'rawPredict' && wire !== 'vendor'
      ? [{ type: 'text', text: content }]
      : (content ?? null)
  return {
    ...rest,
    messages: (messages as JsonObject[]).map((message) => ({
      ...message,
      content: blocks(message.content),
    })),
  }
}

function converseBody(scenario: Scenario): JsonObject {
  const text = { text: question }
  const user = { role: 'user', content: [text] }
  const tool = { toolSpec: { name, description, inputSchema: { json: parameters } } }
  const base = { system: [{ text: SYSTEM }], inferenceConfig: { maxTokens: 100 } }
  switch (scenario) {
    case 'tools':
      return { ...base, messages: [user], toolConfig: { tools: [tool], toolChoice: { any: {} } } }
    case 'results': {
      const assistant = {
        role: 'assistant',
        content: [{ toolUse: { toolUseId: id, name, input } }],
      }
      const result = { toolResult: { toolUseId: id, content: [{ text: RESULT }] } }
      const messages = [user, assistant, { role: 'user', content: [result] }]
      return { ...base, messages, toolConfig: { tools: [tool] } }
    }
    case 'images': {
      const image = { image: { format: 'png', source: { bytes: PIXEL } } }
      return { ...base, messages: [{ role: 'user', content: [text, image] }] }
    }
    case 'reasoning': {
      const additionalModelRequestFields = { thinking: { type: 'adaptive', effort: 'low' } }
      return { ...base, messages: [user], additionalModelRequestFields }
    }
    default:
      return { ...base, messages: [user] }
  }
}

function contentBody(scenario: Scenario, own: JsonObject): JsonObject {
  const text = { text: question }
  const user = { role: 'user', parts: [text] }
  const generationConfig = { maxOutputTokens: 100 }
  const systemInstruction = { parts: [{ text: SYSTEM }] }
  const base = { systemInstruction, generationConfig }
  const tools = [
    { functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] },
  ]
  switch (scenario) {
    case 'tools': {
      const toolConfig = { functionCallingConfig: { mode: 'ANY' } }
      return { ...base, contents: [user], tools, toolConfig }
    }
    case 'results': {
      const call = { role: 'model', parts: [{ functionCall: { name, ...own, args: input } }] }
      const response = { name, ...own, response: JSON.parse(RESULT) }
      const contents = [user, call, { role: 'user', parts: [{ functionResponse: response }] }]
      return { ...base, contents, tools }
    }
    case 'images': {
      const image = { inlineData: { mimeType: 'image/png', data: PIXEL } }
      return { ...base, contents: [{ role: 'user', parts: [text, image] }] }
    }
    case 'reasoning': {
      const thinkingConfig = { thinkingBudget: 1024, includeThoughts: true }
      return {
        ...base,
        contents: [user],
        generationConfig: { ...generationConfig, thinkingConfig },
      }
    }
    default:
      return { ...base, contents: [user] }
  }
}
