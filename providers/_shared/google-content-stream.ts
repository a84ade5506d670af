import { countsTokens, searchesOf, usageFromGoogle } from 'model-gateway/google'
import { GatewayError, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall } from 'model-gateway/provider'
import { isPresent, type StreamEvent, streamEvent } from 'model-gateway/wire'
import { doneEvent, errorEvent } from './chat-chunks.ts'
import { eventObject } from './event-object.ts'
import {
  blockedPrompt,
  type ReadNames,
  type ReplyPart,
  readCandidates,
} from './google-content-candidate.ts'
import {
  addFacts,
  addPart,
  type Choice,
  closingMembers,
  emptyChoice,
  endOf,
  type GoogleProviderType,
} from './google-content-choice.ts'
import { failureMessage } from './google-content-finish.ts'
import { replyId } from './reply-ids.ts'

type Call = Pick<ProviderCall, 'body' | 'surface' | 'requestId'>

/**
 * Converts the responses of a Google content stream (from `decodeGoogleStream`) to chat completion
 * chunks, batch by batch, ended by `[DONE]`. An upstream error, or a failed end, becomes an error
 * event, and the stream ends without `[DONE]`. Throws GatewayError `upstream_transport` for
 * malformed responses and for a stream that ends before each choice has; the usage so far comes
 * first.
 */
export async function* chatChunksFromGoogle(
  responses: AsyncIterable<readonly StreamEvent[]>,
  call: Call,
  names: ReadNames,
  providerType: GoogleProviderType = 'cloud_a_ml',
): AsyncGenerator<readonly StreamEvent[]> {
  const converter = createConverter(call, names, providerType)
  let chunks: StreamEvent[] = []
  try {
    for await (const batch of responses) {
      for (const response of batch) {
        if (converter.state === 'open') converter.push(response, chunks)
      }
      if (chunks.length > 0) yield chunks
      chunks = []
      if (converter.state === 'failed') return
    }
    if (converter.state === 'open') yield converter.end()
  } catch (error) {
    // Anything after `[DONE]` is ignored.
    if (converter.state === 'complete') return
    const last = [...chunks, ...converter.counted()]
    if (last.length > 0) yield last
    throw error
  }
}

function createConverter(call: Call, names: ReadNames, providerType: GoogleProviderType) {
  let state: 'open' | 'complete' | 'failed' = 'open'
  /** The start of each chunk, without the closing brace. */
  let head: string | undefined
  let id = ''
  let usageMetadata: JsonObject | undefined
  let blocked: JsonObject | undefined
  const choices = new Map<number, Choice>()

  function begin({ responseId }: JsonObject): string {
    if (head !== undefined) return head
    id = replyId(call, responseId)
    head = JSON.stringify({
      id,
      object: 'chat.completion.chunk',
      created: Math.floor(Date.now() / 1000),
      model: call.body.model ?? null,
    }).slice(0, -1)
    return head
  }

  function chunk(list: JsonValue[], more: JsonObject = {}): StreamEvent {
    const members = JSON.stringify({ choices: list, ...more }).slice(1)
    return streamEvent(`${head ?? begin({})},${members}`)
  }

  function delta(index: number, value: JsonObject, more: JsonObject = {}): StreamEvent {
    return chunk([{ index, delta: value, ...more, finish_reason: null }])
  }

  function choiceAt(index: number, response: JsonObject, out: StreamEvent[]): Choice {
    const known = choices.get(index)
    if (known !== undefined) return known
    const choice = emptyChoice()
    choices.set(index, choice)
    const { modelVersion } = response
    out.push(
      chunk(
        [{ index, delta: { role: 'assistant' }, finish_reason: null }],
        typeof modelVersion === 'string' ? { provider_model: modelVersion } : {},
      ),
    )
    return choice
  }

  function take(part: ReplyPart, index: number, choice: Choice, out: StreamEvent[]): void {
    addPart(choice, part)
    switch (part.kind) {
      case 'text':
        out.push(delta(index, { content: part.text }))
        break
      case 'thought': {
        const reasoning = { source: 'google_content_stream', blocks: [part.block] }
        out.push(delta(index, { provider_metadata: { [providerType]: { reasoning } } }))
        choice.thoughts.length = 0
        break
      }
      case 'image': {
        const at = choice.images.length - 1
        out.push(delta(index, { images: choice.images.slice(at) }))
        // From here on, only usage is read.
        choice.images[at] = {}
        break
      }
      case 'audio':
        out.push(delta(index, { audio: { id: `audio_${id}`, data: part.data } }))
        choice.audio.length = 1
        break
    }
  }

  /** The last chunks of a choice, with one chunk per call. */
  function close(index: number, choice: Choice, out: StreamEvent[]): void {
    const { tool_calls: calls, ...members } = closingMembers(choice, providerType)
    if (Object.keys(members).length > 0) out.push(delta(index, members))
    for (const [at, toolCall] of (Array.isArray(calls) ? calls : []).entries()) {
      out.push(delta(index, { tool_calls: [{ index: at, ...(toolCall as JsonObject) }] }))
    }
  }

  /** Closes each choice, with the usage in the last; fails if one has failed. */
  function complete(out: StreamEvent[]): void {
    const ended = [...choices].map(([index, choice]) => ({ index, choice, reason: endOf(choice) }))
    const failed = ended.find(({ reason }) => reason === undefined && blocked === undefined)?.choice
    if (failed !== undefined) {
      const { finishReason = 'UNKNOWN', facts } = failed
      const message = failureMessage(finishReason, facts.finish_message)
      out.push(...counted(), errorEvent(call, { error: { code: finishReason, message } }))
      state = 'failed'
      return
    }
    for (const { index, choice } of ended) close(index, choice, out)
    const last = usageSoFar()
    for (const [at, { index, reason }] of ended.entries()) {
      const finish_reason = blocked === undefined ? (reason ?? null) : 'content_filter'
      out.push(chunk([{ index, delta: {}, finish_reason }], at === ended.length - 1 ? last : {}))
    }
    out.push(doneEvent)
    state = 'complete'
  }

  function usageSoFar(): JsonObject {
    const facts = [...choices.values()].map((choice) => choice.facts)
    const usage = usageFromGoogle(usageMetadata, searchesOf(facts))
    return usage === undefined ? {} : { usage }
  }

  /** The usage so far, as a chunk without choices. */
  function counted(): StreamEvent[] {
    const usage = usageSoFar()
    return Object.keys(usage).length === 0 ? [] : [chunk([], usage)]
  }

  function isFinished(): boolean {
    if (blocked !== undefined) return true
    return choices.size > 0 && [...choices.values()].every((c) => c.finishReason !== undefined)
  }

  return {
    push(event: StreamEvent, out: StreamEvent[]): void {
      const response = eventObject(event)
      if (isPresent(response.error)) {
        out.push(...counted(), errorEvent(call, response))
        state = 'failed'
        return
      }
      // Some events, such as keep-alives, contain no reply yet.
      if (isPresent(response.responseId)) begin(response)
      const counters = countsTokens(response.usageMetadata) ? response.usageMetadata : undefined
      usageMetadata = counters ?? usageMetadata
      for (const candidate of readCandidates(response, names)) {
        const { index, logprobs } = candidate
        const choice = choiceAt(index, response, out)
        for (const part of candidate.parts) take(part, index, choice, out)
        if (logprobs !== undefined) out.push(delta(index, {}, { logprobs }))
        addFacts(choice, candidate)
      }
      const refused = blockedPrompt(response)
      if (refused !== undefined && choices.size === 0) {
        blocked = refused
        choiceAt(0, response, out).facts = { prompt_feedback: refused }
      }
      // Wait for usage that is still missing.
      if (counters !== undefined && isFinished()) complete(out)
    },

    /** The upstream has ended: the last chunks. */
    end(): readonly StreamEvent[] {
      if (!isFinished()) {
        throw new GatewayError('upstream_transport', 'premature end: no finishReason')
      }
      const out: StreamEvent[] = []
      complete(out)
      return out
    },

    counted,

    get state() {
      return state
    },
  }
}
