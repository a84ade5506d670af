import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { sample } from './sample.ts'

export interface Tool {
  readonly name: string
  readonly schema: JsonValue | undefined
}

/** A request, whatever its API. */
export interface Question {
  /** Text of the last user message. */
  readonly text: string
  /** The tool result, if the conversation ends with one. */
  readonly toolResult: string | undefined
  readonly images: number
  readonly tools: readonly Tool[]
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string }
  /** Set if the reply must be JSON: its schema, or `{}` for any object. */
  readonly schema: JsonObject | undefined
  readonly maxTokens: number | undefined
  readonly promptTokens: number
}

export type Answer = { readonly tokens: number } & (
  | { readonly kind: 'text'; readonly text: string; readonly cutShort: boolean }
  | { readonly kind: 'tool'; readonly name: string; readonly arguments: string }
)

/** Maximum length of the quoted part of the caller's text. */
const ECHO_LIMIT = 400

/** About four characters per token. */
export function tokensOf(characters: number): number {
  return Math.ceil(characters / 4)
}

/** The same answer to the same question. */
export function answer(question: Question): Answer {
  const tool = toolToCall(question)
  if (tool !== undefined) {
    const value = sample(tool.schema)
    const text = JSON.stringify(value ?? {})
    return { kind: 'tool', name: tool.name, arguments: text, tokens: tokensOf(text.length) }
  }
  const whole = question.schema === undefined ? prose(question) : document(question.schema)
  const limit = (question.maxTokens ?? Number.POSITIVE_INFINITY) * 4
  const text = cut(whole, limit)
  return { kind: 'text', text, cutShort: text !== whole, tokens: tokensOf(text.length) }
}

/** A text in pieces, for streaming. */
export function pieces(text: string): string[] {
  return text.match(/^\s+|\S+\s*(?:\S+\s*)?/g) ?? []
}

function toolToCall({ tools, toolChoice, text, toolResult }: Question): Tool | undefined {
  if (toolChoice === 'none') return undefined
  if (typeof toolChoice === 'object') return tools.find(({ name }) => name === toolChoice.name)
  const words = text.toLowerCase()
  const named = tools.find(
    ({ name }) =>
      words.includes(name.toLowerCase()) || words.includes(name.toLowerCase().replaceAll('_', ' ')),
  )
  if (toolChoice === 'required') return named ?? tools[0]
  return toolResult === undefined ? named : undefined
}

function prose({ text, toolResult, images }: Question): string {
  const heard =
    toolResult !== undefined
      ? `The tool answered: “${cut(toolResult, ECHO_LIMIT)}”.`
      : text === ''
        ? 'You sent no text.'
        : `You said: “${cut(text, ECHO_LIMIT)}”.`
  const unseen =
    images === 0 ? '' : ` I cannot see the ${images === 1 ? 'image' : 'images'} with it.`
  return (
    `${heard}${unseen} I am the simulator that comes with model-gateway. ` +
    'No model was asked, but your key, the route, the price and the ledger entry are real. ' +
    'Name a provider in gateway.yaml and the same call reaches a model.'
  )
}

function document(schema: JsonObject): string {
  const value = sample(schema)
  return JSON.stringify(value ?? { reply: 'This is the simulator of model-gateway.' })
}

/** At most `limit` UTF-16 units, without splitting a character. */
function cut(text: string, limit: number): string {
  return text.length <= limit ? text : text.slice(0, limit).replace(/[\ud800-\udbff]$/, '')
}
