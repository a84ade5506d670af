import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Execute, ProviderCall, RouteSpec } from 'model-gateway/provider'
import { type CompatEndpoint, postJson, readJsonReply } from './compat-http.ts'
import { invalidRequest } from './invalid-request.ts'
import { mergeDeep } from './merge-extra-body.ts'

/** One place where a cloud counts the tokens of a messages request. */
export interface Counter {
  readonly endpoint: CompatEndpoint
  /** What it is sent for a prompt. */
  body(prompt: JsonObject): JsonObject
}

/** The dialect of such requests. */
export const COUNT_TOKENS = 'messages.count_tokens'

/** A count is waited for by somebody who can do with an estimate. */
const PATIENCE_MS = 10_000
/** How long a counter is left alone that does not know the model, lets us not ask, or says nothing. */
const REST_MS = 600_000

/**
 * Counts by the first of these counters that knows the model. Throws GatewayError: with status 400 where
 * the request itself is refused, and `invalid_request` where there is nobody to ask.
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

/** What a counter is asked about a call, as JSON text. */
export interface CountRequest {
  readonly endpoint: CompatEndpoint
  readonly text: string
}

/** The same of one counter that takes more than a prompt; `request` makes all of what it is sent. */
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
 * What every counter takes without a beta; betas, where a cloud takes some, would go here too. Throws
 * GatewayError for a prompt with files that no counter fetches.
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

/** Looks through messages, their blocks, and the blocks of tool results. */
function holdsReference(blocks: readonly JsonValue[]): boolean {
  return blocks.some((block) => {
    if (!isJsonObject(block)) return false
    const { source, content } = block
    const type = isJsonObject(source) ? source.type : undefined
    return type === 'url' || type === 'file' || (Array.isArray(content) && holdsReference(content))
  })
}

/** Whether an upstream refuses the prompt, and not only to count it. */
function isVerdict({ code, status, message }: GatewayError): boolean {
  if (code !== 'upstream_http_error' || status !== 400) return false
  return (
    /^(?:messages|system)[.:]/.test(message) && !/extra inputs are not permitted/i.test(message)
  )
}

/** Not that an input is too long for the model. */
const OF_THE_MODEL = /\bmodel\b.*\b(?:support\w*|identifier|invalid|exists?)\b/i

/** Whether a counter would answer the next request like this, too. */
function isUnable({ details, message }: GatewayError): boolean {
  const status = details.upstream_status
  return status === 403 || status === 404 || (status === 400 && OF_THE_MODEL.test(message))
}

/** The same, so that it does not pass for a verdict. */
function asFailure(error: GatewayError): GatewayError {
  if (error.status !== 400) return error
  const { kind, message, details, upstream } = error
  return new GatewayError(kind, message, { status: 502, details, upstream })
}
