import { GuardDenial, type JsonObject, type Usage } from '../plugin/index.ts'
import { sseText } from '../wire/dialect-stream.ts'
import type { Exchange, LifecycleServices } from './exchange.ts'
import { toldStream } from './execute.ts'

/** A denial formatted as a turn of the conversation. */
export interface ToldRefusal {
  readonly body: JsonObject
  /** The text to send: the body, or the whole stream that carries it. */
  readonly text: string
  readonly isStream: boolean
}

/**
 * A denial as a normal reply instead of an error, if the policy asks for it and a dialect supports
 * it: the caller's, or that of the route with conversion. `usageUnasked`: as in `StreamResult`.
 */
export function refusalOf(
  exchange: Exchange,
  error: unknown,
  usage: Usage | undefined,
  { fault }: LifecycleServices,
  usageUnasked?: boolean,
): ToldRefusal | undefined {
  if (!(error instanceof GuardDenial) || error.refusal === undefined) return undefined
  if (!('dispatchedAt' in exchange)) return undefined
  const { spoken } = exchange.way
  const way =
    spoken?.refusal === undefined
      ? exchange.way
      : { ...exchange.way, dialect: spoken, conversion: undefined }
  const { dialect, conversion } = way
  const { requestId, read } = exchange
  const identity = { publicModel: exchange.model.id, requestId }
  try {
    const reply = dialect.refusal?.(error.refusal, usage, identity)
    if (reply === undefined) return undefined
    const body = conversion === undefined ? reply : conversion.reply(reply, usage, identity)
    const isStream = read.stream && dialect.streaming !== undefined
    if (!isStream) return { body, text: JSON.stringify(body), isStream }
    const stream = toldStream({ ...exchange, way }, usageUnasked)
    const events = stream.push(dialect.streaming.tell(reply))
    stream.end()
    return { body, text: sseText([...events, ...stream.terminal]), isStream }
  } catch (thrown) {
    fault('a refusal could not be sent', thrown, requestId)
    return undefined
  }
}
