import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { answeredCall, isNamed, toolCallsOf, unknownRole } from './chat-calls.ts'
import { assistantContent } from './chat-content.ts'
import { NOTHING_SAID } from './chat-turns.ts'
import {
  type CallReader,
  functionCall,
  functionResponse,
  lostCall,
  type ToolMessage,
} from './google-content-calls.ts'
import { chatParts, imageParts, textsOf } from './google-content-parts.ts'
import { signatureOf, signHistory } from './google-content-signatures.ts'
import { invalidRequest } from './invalid-request.ts'

export interface GoogleConversation {
  readonly contents: JsonObject[]
  readonly systemInstruction: JsonObject | undefined
}

interface Content extends JsonObject {
  role: 'user' | 'model'
  parts: JsonObject[]
}

/** A chat message with its path and calls. */
interface Read extends ToolMessage {
  readonly calls: readonly JsonObject[]
}

/**
 * The messages of a chat call as Google content: the user begins, contents are not empty, and
 * function results follow their calls in number and order. Throws GatewayError `invalid_request`,
 * also when no content remains.
 */
export function googleConversation(
  messages: JsonValue | undefined,
  reader: CallReader,
): GoogleConversation {
  if (!Array.isArray(messages)) throw invalidRequest('messages must be a list')
  const read = messages.map((message, index): Read => {
    const place = `messages.${index}`
    if (!isJsonObject(message)) throw invalidRequest(`${place} must be an object`)
    return {
      message,
      place,
      calls: message.role === 'assistant' ? toolCallsOf(message, place) : [],
    }
  })
  const system: string[] = []
  const contents: Content[] = []
  const paired = pairResults(read)
  for (const [index, { message, place, calls }] of read.entries()) {
    if (message.role !== 'tool' && isNamed(message)) reader.dropped('messages[].name')
    switch (message.role) {
      case 'system':
      case 'developer':
        system.push(...textsOf(message.content, place, reader).filter((text) => text !== ''))
        break
      case 'user':
        add(contents, 'user', chatParts(message.content, place, reader))
        break
      case 'assistant': {
        const parts = assistantParts(message, place, reader)
        const made = calls.map((call, at) =>
          functionCall(call, `${place}.tool_calls.${at}`, reader),
        )
        add(contents, 'model', [...parts, ...made.map(({ part }) => part)])
        const answers = paired[index]?.answers ?? []
        respond(
          contents,
          made.map(({ made: one }, at) => functionResponse(one, answers[at], reader)),
        )
        break
      }
      case 'tool': {
        if (paired[index]?.isAnswer === true) break
        const { part, made } = lostCall()
        add(contents, 'model', [part])
        respond(contents, [functionResponse(made, { message, place }, reader)])
        break
      }
      default:
        throw unknownRole(message, place)
    }
  }
  return completed(contents, system, reader)
}

/** For each message: the results of its calls, or whether it is a call's result. */
interface Paired {
  readonly answers: (ToolMessage | undefined)[]
  isAnswer: boolean
}

/** A call's result is the first later one with its id. */
function pairResults(messages: readonly Read[]): Paired[] {
  const paired: Paired[] = messages.map(() => ({ answers: [], isAnswer: false }))
  /** Where results belong, by call id. */
  const open = new Map<JsonValue | undefined, { answers: Paired['answers']; at: number }[]>()
  for (const [index, { message, place, calls }] of messages.entries()) {
    const own = paired[index] as Paired
    for (const [at, call] of calls.entries()) {
      const waiting = open.get(call.id) ?? []
      waiting.push({ answers: own.answers, at })
      open.set(call.id, waiting)
    }
    if (message.role !== 'tool') continue
    const call = open.get(answeredCall(message, place))?.shift()
    if (call === undefined) continue
    call.answers[call.at] = { message, place }
    own.isAnswer = true
  }
  return paired
}

/** Text and images of an assistant message; its signature belongs to the last text. */
function assistantParts(message: JsonObject, place: string, reader: CallReader): JsonObject[] {
  const parts = chatParts(assistantContent(message), place, reader)
  // Audio of earlier turns is referenced only by id.
  if (isJsonObject(message.audio)) reader.dropped('messages[].audio')
  const signature = signatureOf(message)
  if (signature !== undefined) {
    const last = parts.findLastIndex(({ text }) => text !== undefined)
    const signed = { ...(parts[last] ?? { text: '' }), thoughtSignature: signature }
    parts.splice(last === -1 ? parts.length : last, 1, signed)
  }
  return [...parts, ...imageParts(message.images, place)]
}

/** Consecutive messages of a role become one content; function results stay separate. */
function add(contents: Content[], role: Content['role'], parts: JsonObject[]): void {
  if (parts.length === 0) return
  const last = contents.at(-1)
  if (role === 'model' && last?.role === 'model') last.parts.push(...parts)
  else contents.push({ role, parts })
}

/** Files that results cannot contain follow all results. */
function respond(
  contents: Content[],
  responses: readonly { readonly part: JsonObject; readonly beside: readonly JsonObject[] }[],
): void {
  if (responses.length === 0) return
  contents.push({ role: 'user', parts: responses.map(({ part }) => part) })
  add(
    contents,
    'user',
    responses.flatMap(({ beside }) => beside),
  )
}

function completed(contents: Content[], system: string[], reader: CallReader): GoogleConversation {
  const instruction = { parts: [{ text: system.join('\n\n') }] }
  const user = (text: string): Content => ({ role: 'user', parts: [{ text }] })
  // A message on its own is what the model must answer.
  if (contents.length === 0 && system.length > 0) {
    return { contents: [{ role: 'user', ...instruction }], systemInstruction: undefined }
  }
  if (contents.length === 0) throw invalidRequest('messages must have a message with content')
  if (contents[0]?.role === 'model') contents.unshift(user(NOTHING_SAID))
  // "Requests ending with a model turn are not supported": BerriAI/litellm#38652.
  if (reader.newer && contents.at(-1)?.role === 'model') contents.push(user(NOTHING_SAID))
  if (reader.newer) signHistory(contents)
  return { contents, systemInstruction: system.length === 0 ? undefined : instruction }
}
