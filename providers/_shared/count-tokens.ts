import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Execute, ProviderCall, RouteSpec } from 'model-gateway/provider'
import { type CompatEndpoint, postJson, readJsonReply } from './compat-http.ts'
import { invalidRequest } from './invalid-request.ts'
import { mergeDeep } from './merge-extra-body.ts'

/** A token counter of a cloud. */
export interface Counter {
  readonly endpoint: CompatEndpoint
  /** The request body for a prompt. */
  body(prompt: JsonObject): JsonObject
}

/** The dialect of token counting requests. */
export const COUNT_TOKENS = 'messages.count_tokens'

/** Timeout, because the caller can use an estimate instead. */
const PATIENCE_MS = 10_000
/** How long a counter is skipped that does not know the model, denies access, or times out. */
const REST_MS = 600_000

/**
 * Counts with the first counter that knows the model. Throws GatewayError: with status 400 if the
 * request is refused, and `invalid_request` without a counter.
 */
export function countExecutor(
  counters: readonly Counter[],
  { extraBody }: Pick<RouteSpec, 'extraBody'>,
  patienceMs: number = PATIENCE_MS,
): Execute {
  const prepare = (call: ProviderCall) => {
    const prompt = promptOf(mergeDeep(call.body, extraBody))
    return ({ endpoint, body }: Counter) => ({ endpoint, text: JSON.stringify(body(prompt)) })
  }
  return firstCount(counters, prepare, patienceMs)
}

/** The request to a counter, as JSON text. */
export interface CountRequest {
  readonly endpoint: CompatEndpoint
  readonly text: string
}

/** The same for one counter that takes more than a prompt; `request` builds the whole body. */
export function exactCountExecutor(request: (call: ProviderCall) => CountRequest): Execute {
  return firstCount([request], (call) => (own) => own(call), PATIENCE_MS)
}

function firstCount<C>(
  counters: readonly C[],
  prepare: (call: ProviderCall) => (counter: C) => CountRequest,
  patienceMs: number,
): Execute {
  const restsUntil = new Map<C, number>()
  return async (call) => {
    const requestOf = prepare(call)
    let failure = invalidRequest('model: this route has no token counter for this model')
    for (const counter of counters) {
      if ((restsUntil.get(counter) ?? 0) > performance.now()) continue
      const request = requestOf(counter)
      try {
        return await ask(request, call, patienceMs)
      } catch (error) {
        if (!(error instanceof GatewayError) || call.signal.aborted) throw error
        if (isVerdict(error)) throw error
        failure = asFailure(error)
        const unable = isUnable(error)
        if (unable || error.code === 'upstream_timeout') {
          restsUntil.set(counter, performance.now() + REST_MS)
        }
        if (!unable) break
      }
    }
    throw failure
  }
}

async function ask({ endpoint, text }: CountRequest, call: ProviderCall, patienceMs: number) {
  const late = new AbortController()
  const timer = setTimeout(() => {
    const message = `the token counter did not answer within ${patienceMs} ms`
    late.abort(new GatewayError('upstream_timeout', message))
  }, patienceMs)
  try {
    const hurried = { ...call, signal: AbortSignal.any([call.signal, late.signal]) }
    const reply = await readJsonReply(await postJson(endpoint, hurried, text, 'application/json'))
    // Anthropic, Bedrock, Google.
    const { input_tokens, inputTokens, totalTokens } = reply.body
    return {
      kind: 'buffered',
      body: { input_tokens: input_tokens ?? inputTokens ?? totalTokens ?? null },
    } as const
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Keeps what each counter accepts without a beta. Throws GatewayError for a prompt with files that
 * counters cannot fetch.
 */
function promptOf({ messages, system, tools, tool_choice, thinking }: JsonObject): JsonObject {
  if (Array.isArray(messages) && holdsReference(messages)) {
    throw invalidRequest('messages: token counting takes images and documents only as base64')
  }
  const offersTools = Array.isArray(tools) && tools.length > 0
  const members = {
    ...{ messages, system, thinking },
    ...(offersTools && { tools, tool_choice }),
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => (value ?? null) !== null))
}

/** Visits messages, their blocks, and the blocks of tool results. */
function holdsReference(blocks: readonly JsonValue[]): boolean {
  return blocks.some((block) => {
    if (!isJsonObject(block)) return false
    const { source, content } = block
    const type = isJsonObject(source) ? source.type : undefined
    return type === 'url' || type === 'file' || (Array.isArray(content) && holdsReference(content))
  })
}

/** Whether an upstream refuses the prompt itself, not just the count. */
function isVerdict({ code, status, message }: GatewayError): boolean {
  if (code !== 'upstream_http_error' || status !== 400) return false
  return (
    /^(?:messages|system)[.:]/.test(message) && !/extra inputs are not permitted/i.test(message)
  )
}

/** Errors about the model itself, but not that an input is too long for it. */
const OF_THE_MODEL = /\bmodel\b.*\b(?:support\w*|identifier|invalid|exists?)\b/i

/** Whether the counter would answer later requests in the same way. */
function isUnable({ details, message }: GatewayError): boolean {
  const status = details.upstream_status
  return status === 403 || status === 404 || (status === 400 && OF_THE_MODEL.test(message))
}

/** The same error with another status, so that it is not taken for a verdict on the request. */
function asFailure(error: GatewayError): GatewayError {
  if (error.status !== 400) return error
  const { kind, message, details, upstream } = error
  return new GatewayError(kind, message, { status: 502, details, upstream })
}
