import type { JsonObject } from 'model-gateway/plugin'
import { invalid, isPresent, leaveOut } from 'model-gateway/wire'
import { member, objectIn, objectsIn, textIn } from '../_shared/shape.ts'
import type { Target } from './conversion.ts'
import { mediaPart } from './media.ts'

/** A function call of an earlier turn without a result so far. */
interface OpenCall {
  readonly id: string
  readonly name: string
}

/** The placeholder that agents send for a lost signature; other models ignore it. */
const SKIPPED = 'skip_thought_signature_validator'

/**
 * Converts `systemInstruction` and `contents` to chat messages. Throws GatewayError
 * `invalid_request`.
 */
export function chatMessages(request: JsonObject, target: Target): JsonObject[] {
  const messages: JsonObject[] = []
  const system = systemText(request)
  if (system !== '') messages.push({ role: 'system', content: system })
  const open: OpenCall[] = []
  for (const [i, turn] of objectsIn(request, 'contents').entries()) {
    const place = `contents.${i}`
    const role = member(turn, 'role') ?? 'user'
    if (role === 'model' || role === 'assistant') addModel(messages, turn, place, open, target)
    else if (role === 'user' || role === 'function') addUser(messages, turn, place, open, target)
    else if (role === 'system') messages.push({ role, content: textsOf(turn).join('\n\n') })
    else throw invalid(`${place}.role must be 'user' or 'model'`)
  }
  if (messages.length === 0) throw invalid('contents.0.parts must have at least one part')
  return messages
}

function systemText(request: JsonObject): string {
  const stated = member(request, 'systemInstruction')
  if (typeof stated === 'string') return stated
  const instruction = objectIn(request, 'systemInstruction')
  return instruction === undefined ? '' : textsOf(instruction).join('\n\n')
}

function textsOf(content: JsonObject): readonly string[] {
  return objectsIn(content, 'parts').flatMap((part) => textIn(part, 'text') || [])
}

/** The model's text and calls. Results of hosted tools and generated media are left out. */
function addModel(
  messages: JsonObject[],
  turn: JsonObject,
  place: string,
  open: OpenCall[],
  target: Target,
): void {
  let text = ''
  let thoughts = ''
  const calls: JsonObject[] = []
  for (const [k, part] of objectsIn(turn, 'parts').entries()) {
    const said = textIn(part, 'text')
    const call = objectIn(part, 'functionCall')
    if (call !== undefined) {
      const id =
        textIn(call, 'id') || `${place}.${k}`.replace('contents.', 'call_').replace('.', '_')
      const name = nameIn(call, `${place}.parts.${k}.functionCall`)
      open.push({ id, name })
      calls.push({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(objectIn(call, 'args') ?? {}) },
        ...signatureOf(part),
      })
    } else if (said !== undefined && part.thought === true) thoughts += said
    else if (said !== undefined) text += said
    else leaveOutPart(part, target)
  }
  if (text === '' && calls.length === 0) return
  messages.push({
    role: 'assistant',
    content: text === '' ? null : text,
    ...(thoughts !== '' &&
      target.reads.has('reasoning_content') && { reasoning_content: thoughts }),
    ...(calls.length > 0 && { tool_calls: calls }),
  })
}

/** At the place that Google's own chat completions use. */
function signatureOf(part: JsonObject): JsonObject {
  const signature = textIn(part, 'thoughtSignature')
  if (signature === undefined || signature === SKIPPED) return {}
  return { extra_content: { google: { thought_signature: signature } } }
}

function leaveOutPart(part: JsonObject, target: Target): void {
  for (const name of ['inlineData', 'fileData', 'executableCode', 'codeExecutionResult']) {
    if (isPresent(member(part, name))) leaveOut(`contents[].parts[].${name}`, target)
  }
}

/** Results come first, each as a separate message; their media follow with the rest. */
function addUser(
  messages: JsonObject[],
  turn: JsonObject,
  place: string,
  open: OpenCall[],
  target: Target,
): void {
  const shown: JsonObject[] = []
  for (const [k, part] of objectsIn(turn, 'parts').entries()) {
    const at = `${place}.parts.${k}`
    const result = objectIn(part, 'functionResponse')
    const text = textIn(part, 'text')
    if (result !== undefined) messages.push(toolMessage(result, at, open, shown, target))
    else if (text !== undefined) {
      if (text !== '') shown.push({ type: 'text', text })
    } else {
      const media = mediaPart(part, at)
      if (media !== undefined) shown.push(media)
      else leaveOutPart(part, target)
    }
  }
  const [first, ...others] = shown
  if (first === undefined) return
  const isPlain = others.length === 0 && first.type === 'text'
  messages.push({ role: 'user', content: isPlain ? (first.text ?? '') : shown })
}

/**
 * A chat's tool message contains only text, unless the route accepts more: then the user message
 * has the rest.
 */
function toolMessage(
  result: JsonObject,
  at: string,
  open: OpenCall[],
  shown: JsonObject[],
  target: Target,
): JsonObject {
  const text = resultText(result)
  const media = objectsIn(result, 'parts')
    .map((part) => mediaPart(part, at))
    .filter((part) => part !== undefined)
  const inside = target.reads.has('tool_images') && media.every(({ type }) => type === 'image_url')
  if (!inside) shown.push(...media)
  const content = inside && media.length > 0 ? [{ type: 'text', text }, ...media] : text
  return { role: 'tool', tool_call_id: answered(result, at, open), content }
}

/** Agents wrap text in an object, because the API requires one. */
function resultText(result: JsonObject): string {
  const response = objectIn(result, 'response') ?? {}
  const [[name, value] = [], ...others] = Object.entries(response)
  const isText = (name === 'output' || name === 'result') && others.length === 0
  return isText && typeof value === 'string' ? value : JSON.stringify(response)
}

/** The call id for a result: by its id or, because ids may be absent, by its name. */
function answered(result: JsonObject, at: string, open: OpenCall[]): string {
  const id = textIn(result, 'id')
  const name = textIn(result, 'name')
  const byId = open.findIndex((call) => call.id === id)
  const place = byId >= 0 ? byId : open.findIndex((call) => call.name === name)
  const [call] = place >= 0 ? open.splice(place, 1) : []
  if (call !== undefined) return call.id
  throw invalid(
    `${at}.functionResponse: no functionCall of "${name ?? ''}" before it waits for a result`,
  )
}

function nameIn(call: JsonObject, at: string): string {
  const name = textIn(call, 'name')
  if (name !== undefined && name !== '') return name
  throw invalid(`${at}.name must be a non-empty string`)
}
