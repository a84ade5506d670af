import {
  type BufferedResult,
  GuardDenial,
  type GuardedContent,
  type GuardedOperation,
  type GuardPhase,
  type GuardPolicy,
  type JsonObject,
} from '../plugin/index.ts'
import { promptTexts, replyTexts } from '../wire/guard-text.ts'
import { repeatsKey } from '../wire/json-keys.ts'
import { type Admitted, Refusal } from './exchange.ts'

/**
 * Returns the request as the guard permits it. Throws Refusal with GuardDenial before anything is
 * sent or charged; it carries what is logged instead of the body.
 */
export async function guardPrompt(admitted: Admitted): Promise<Admitted> {
  const { guard } = admitted.route
  const { call, way } = admitted
  if (way.execute === undefined || !guard?.covers('prompt')) return admitted
  const text = (way.dialect.views?.promptTexts ?? promptTexts)(call.body)
  const isAmbiguous = call.rawBody !== undefined && repeatsKey(call.rawBody, 0, call.body)
  const asRead = isAmbiguous ? { ...admitted, call: { ...call, rawBody: undefined } } : admitted
  if (text.segments.length === 0) return asRead
  try {
    const { content } = await pass(guard, admitted, 'prompt', {
      kind: 'text',
      segments: text.segments,
    })
    if (content?.kind !== 'text') return asRead
    const body = text.replace(content.segments)
    return { ...admitted, call: { ...call, body, rawBody: undefined }, loggedBody: body }
  } catch (error) {
    if (!(error instanceof GuardDenial)) throw error
    throw new Refusal(error, { ...admitted, loggedBody: error.logged })
  }
}

/** Whether replies of this route must be held until the guard has decided. */
export function guardsReply({ route: { guard } }: Admitted): boolean {
  return guard?.covers('model_response') === true || guard?.covers('generated_tool_call') === true
}

/**
 * Returns the buffered reply as the guard permits it: the same object if nothing changed and its
 * text may be passed on. Throws GuardDenial.
 */
export async function guardReply(
  admitted: Admitted,
  { body: reply, rawBody }: BufferedResult,
): Promise<JsonObject> {
  const { guard } = admitted.route
  if (guard === undefined) return reply
  const { views = {} } = admitted.way.dialect
  // With a duplicate key, clients may read another value than the guard did.
  let body = rawBody !== undefined && repeatsKey(rawBody, 0, reply) ? { ...reply } : reply
  const made = views.madeToolCalls?.(body)
  if (guard.covers('generated_tool_call') && made !== undefined && made.calls.length > 0) {
    const earlier = () => views.earlierToolCalls?.(admitted.call.body) ?? []
    const calls = { kind: 'tool_calls', calls: made.calls } as const
    const { content } = await pass(guard, admitted, 'generated_tool_call', calls, earlier)
    if (content?.kind === 'tool_calls') body = made.replace(content.calls)
  }
  const { segments, replace: replaceTexts } = (views.replyTexts ?? replyTexts)(body)
  if (guard.covers('model_response') && segments.length > 0) {
    const { content } = await pass(guard, admitted, 'model_response', { kind: 'text', segments })
    if (content?.kind === 'text') body = replaceTexts(content.segments)
  }
  return body
}

async function pass(
  guard: GuardPolicy,
  { requestId }: Admitted,
  phase: GuardPhase,
  content: GuardedContent,
  earlier?: GuardedOperation['earlier'],
) {
  const verdict = await guard.inspect({ phase, content, requestId, ...(earlier && { earlier }) })
  if (verdict.action === 'deny') throw new GuardDenial(verdict)
  return verdict
}
