import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import type { SurfaceCall } from 'model-gateway/surface'
import { invalid, isPresent, readChatRequest } from 'model-gateway/wire'
import { betaHeaders } from '../_shared/betas.ts'

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system'])

/**
 * Checks the parts of a prompt that are needed to count it; the rest of the request is ignored. A
 * route must support what the messages call needs. `betas` is the header `anthropic-beta`. Throws
 * `invalid_request` with the field name.
 */
export function readCount(body: JsonValue, betas: string | null = null): SurfaceCall {
  if (!isJsonObject(body)) throw invalid('the request body must be a JSON object')
  const { model, messages, tools, system } = body
  const { features, ...read } = readChatRequest({
    ...(model !== undefined && { model }),
    ...(messages !== undefined && { messages }),
    ...(tools !== undefined && { tools }),
  })
  if (isPresent(system)) checkContent(system, 'system')
  checkObjects(tools, 'tools')
  for (const [i, message] of (messages as readonly JsonValue[]).entries()) {
    const { role, content } = isJsonObject(message) ? message : {}
    if (!ROLES.has(role)) throw invalid(`messages.${i}.role must be 'user' or 'assistant'`)
    checkContent(content, `messages.${i}.content`)
  }
  const headers = betaHeaders(betas)
  return { ...read, features, exposedToolCount: undefined, ...(headers && { headers }) }
}

function checkContent(content: JsonValue | undefined, place: string): void {
  if (typeof content === 'string') return
  if (!Array.isArray(content)) throw invalid(`${place} must be a string or an array of blocks`)
  checkObjects(content, place)
}

function checkObjects(list: JsonValue | undefined, place: string): void {
  if (!Array.isArray(list)) return
  for (const [i, item] of list.entries()) {
    if (!isJsonObject(item)) throw invalid(`${place}.${i} must be an object`)
  }
}
