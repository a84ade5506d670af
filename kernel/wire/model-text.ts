import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { argumentsOf, textOf } from './chat-message.ts'
import { promptTexts } from './guard-text.ts'

/** The texts of a request that a provider counts as tokens, including tool descriptions. */
export function inputTexts(body: JsonObject): readonly string[] {
  const texts = [...promptTexts(body).segments]
  collectTool(body.tools, texts)
  return texts
}

/** Names, descriptions and parameters of tools, without JSON syntax. */
function collectTool(value: JsonValue | undefined, texts: string[]): void {
  if (typeof value === 'string') texts.push(value)
  else if (Array.isArray(value)) for (const each of value) collectTool(each, texts)
  else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (name === 'properties' && isJsonObject(member)) texts.push(...Object.keys(member))
      collectTool(member, texts)
    }
  }
}

/** The output in one chunk of a chat stream: text, reasoning, tool arguments. */
export function chatChunkText(data: string): string {
  let text = ''
  for (const choice of listOf(objectIn(data).choices)) {
    if (isJsonObject(choice) && isJsonObject(choice.delta)) text += chatText(choice.delta)
  }
  return text
}

/** The output in one event of a responses stream. */
export function responsesEventText(data: string): string {
  const { type, delta } = objectIn(data)
  const isText = typeof type === 'string' && !type.endsWith('audio.delta')
  return isText && typeof delta === 'string' ? delta : ''
}

function objectIn(data: string): JsonObject {
  try {
    const value = JSON.parse(data) as JsonValue
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

function chatText(delta: JsonObject): string {
  let text = textOf(delta) + reasoningOf(delta)
  for (const call of listOf(delta.tool_calls)) {
    const called = isJsonObject(call) ? call.function : undefined
    if (!isJsonObject(called)) continue
    if (typeof called.name === 'string') text += called.name
    text += argumentsOf(called)
  }
  return text
}

/** Once, because some upstreams send it under several names. */
function reasoningOf(delta: JsonObject): string {
  const { reasoning, reasoning_content, reasoning_text, provider_metadata } = delta
  const text = [reasoning, reasoning_content, reasoning_text].find(
    (each) => typeof each === 'string' && each !== '',
  )
  if (text !== undefined) return text as string
  return thoughts(delta.reasoning_details ?? provider_metadata ?? null)
}

/** The texts of reasoning blocks, wherever they are inside of `value`. */
function thoughts(value: JsonValue): string {
  if (Array.isArray(value)) return value.map(thoughts).join('')
  if (!isJsonObject(value)) return ''
  const { thinking, text } = value
  if (typeof thinking === 'string') return thinking
  if (typeof text === 'string') return text
  return Object.values(value)
    .map((member) => thoughts(member ?? null))
    .join('')
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}
