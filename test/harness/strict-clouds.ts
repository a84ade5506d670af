import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { checkConverse } from './strict-converse.ts'
import { checkBedrockCount, checkCount } from './strict-counts.ts'
import { checkContent } from './strict-google.ts'
import { checkMessagesRequest, type MessagesHost } from './strict-messages.ts'
import { checkResponses } from './strict-responses.ts'
import { type Refused, refusedBy } from './strict-rules.ts'
import { json, type Reply } from './upstream.ts'

/** The answer of a cloud to a request that it does not take. */
export interface StrictRefusal {
  readonly status: number
  readonly json: JsonObject
  readonly headers: Record<string, string>
}

/** The rules of one API, and how the service writes what it refuses. */
interface Rules {
  readonly path: RegExp
  check(path: string, body: JsonObject): void
  answer(refused: Refused): StrictRefusal
}

const messages = (host: MessagesHost) => (path: string, body: JsonObject) =>
  checkMessagesRequest(host, body, `${path} ${body.model}`)

const count = (host: MessagesHost) => (_: string, body: JsonObject) => checkCount(host, body)

const RULES: readonly Rules[] = [
  { path: /\/count-tokens:rawPredict$/, check: count('vertex'), answer: anthropic },
  { path: /\/messages\/count_tokens$/, check: count('mantle'), answer: anthropic },
  { path: /\/count-tokens$/, check: checkBedrockCount, answer: bedrock },
  { path: /\/converse(-stream)?$/, check: checkConverse, answer: bedrock },
  { path: /\/invoke$/, check: messages('invoke'), answer: bedrock },
  { path: /:(?:streamR|r)awPredict$/, check: messages('vertex'), answer: anthropic },
  { path: /\/v1\/messages$/, check: messages('mantle'), answer: anthropic },
  { path: /:(?:streamG|g)enerateContent$/, check: checkContent, answer: google },
  { path: /^\/v1\/responses$/, check: (_, body) => checkResponses(body), answer: openai },
]

/**
 * What the real service is known to refuse of a call of this path, in the service's own shape;
 * undefined for a good one, and for calls of other APIs.
 */
export function strictRefusal(path: string, body: JsonObject): StrictRefusal | undefined {
  const place = decodeURIComponent(path.split('?')[0] ?? '')
  const rules = RULES.find((each) => each.path.test(place))
  const refused = rules && refusedBy(() => rules.check(place, body))
  return refused && rules.answer(refused)
}

/** A reply that calls get only if the real service would take them. */
export function strictly(reply: Reply): Reply {
  return (x) => {
    const { path, body } = x.call
    const refused = isJsonObject(body) ? strictRefusal(path, body) : undefined
    return (refused ? json(refused.json, refused.status, refused.headers) : reply)(x)
  }
}

function bedrock({ status, message }: Refused): StrictRefusal {
  const type = status === 403 ? 'AccessDeniedException' : 'ValidationException'
  return { status, json: { message }, headers: { 'x-amzn-errortype': type } }
}

function anthropic({ status, message }: Refused): StrictRefusal {
  const error = { type: 'invalid_request_error', message }
  return { status, json: { type: 'error', error }, headers: {} }
}

function openai({ status, message }: Refused): StrictRefusal {
  const param = /'([^']+)'/.exec(message)?.[1] ?? null
  const error = { message, type: 'invalid_request_error', param, code: null }
  return { status, json: { error }, headers: {} }
}

function google({ status, message }: Refused): StrictRefusal {
  const error = { code: status, message, status: 'INVALID_ARGUMENT' }
  return { status, json: { error }, headers: {} }
}
