import { form, greySquare, silence } from './live-files.ts'
import { fitsModel, type ModelKind, voiceOf } from './live-models.ts'
import { readFailure, type Said, saidBy } from './live-replies.ts'

type Json = Readonly<Record<string, unknown>>

/** One cheap call that checks whether a route has an API. */
export interface LiveCall {
  /** Display name; unique. */
  readonly id: string
  /** The surface that it calls. */
  readonly surface: string
  /** The `capabilities` flags that a route needs for it. */
  readonly flags: readonly string[]
  /** The kinds of models with this API. */
  readonly kinds: readonly ModelKind[]
  /** Costs cents, so it runs only on request. */
  readonly costly?: true
  path(model: string): string
  body(model: string): Json | FormData
  /** A short description of the reply. Throws an Error that says what is missing. */
  read(reply: Response): Promise<Said>
}

const ASK = 'Reply with the word: ready'
const say = [{ role: 'user', content: ASK }]
const at = (path: string) => () => path

/** The calls of all APIs, in order of execution. */
export const liveCalls: readonly LiveCall[] = [
  // Without a token limit, because some vendors call it max_tokens and others refuse that name.
  {
    id: 'chat',
    surface: 'chat_completions',
    flags: ['chat_completions'],
    kinds: ['text'],
    path: at('/v1/chat/completions'),
    body: (model) => ({ model, messages: say }),
    read: saidBy.chat,
  },
  {
    id: 'chat, streamed',
    surface: 'chat_completions',
    flags: ['chat_completions', 'stream'],
    kinds: ['text'],
    path: at('/v1/chat/completions'),
    body: (model) => ({ model, messages: say, stream: true }),
    read: saidBy.chatStream,
  },
  {
    id: 'responses',
    surface: 'responses',
    flags: ['responses'],
    kinds: ['text'],
    path: at('/v1/responses'),
    // Some vendors cannot store it, and say so.
    body: (model) => ({ model, input: ASK, store: false }),
    read: saidBy.responses,
  },
  {
    id: 'messages',
    surface: 'messages',
    flags: ['chat_completions'],
    kinds: ['text'],
    path: at('/v1/messages'),
    body: (model) => ({ model, messages: say, max_tokens: 1024 }),
    read: saidBy.messages,
  },
  {
    id: 'google',
    surface: 'google',
    flags: ['google'],
    kinds: ['text'],
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: ASK }] }] }),
    read: saidBy.google,
  },
  {
    id: 'completions',
    surface: 'completions',
    flags: ['completions'],
    kinds: ['completions', 'text'],
    path: at('/v1/completions'),
    body: (model) => ({ model, prompt: 'One, two,', max_tokens: 16 }),
    read: saidBy.completions,
  },
  {
    id: 'embeddings',
    surface: 'embeddings',
    flags: ['embeddings'],
    kinds: ['embeddings'],
    path: at('/v1/embeddings'),
    body: (model) => ({ model, input: ASK }),
    read: saidBy.embeddings,
  },
  {
    id: 'moderations',
    surface: 'moderations',
    flags: ['moderations'],
    kinds: ['moderations'],
    path: at('/v1/moderations'),
    body: (model) => ({ model, input: ASK }),
    read: saidBy.moderations,
  },
  {
    id: 'rerank',
    surface: 'rerank',
    flags: ['rerank'],
    kinds: ['rerank'],
    path: at('/v1/rerank'),
    body: (model) => ({ model, query: 'fruit', documents: ['an apple', 'a car'] }),
    read: saidBy.rerank,
  },
  {
    id: 'speech',
    surface: 'audio.speech',
    flags: ['audio.speech'],
    kinds: ['speech'],
    path: at('/v1/audio/speech'),
    // The format that all support: https://console.groq.com/docs/text-to-speech/orpheus
    body: (model) => ({ model, voice: voiceOf(model), input: 'Ready.', response_format: 'wav' }),
    read: saidBy.bytes,
  },
  {
    id: 'transcriptions',
    surface: 'audio.transcriptions',
    flags: ['audio.transcriptions'],
    kinds: ['transcription', 'translation'],
    path: at('/v1/audio/transcriptions'),
    body: (model) => form({ model, file: silence() }),
    read: saidBy.transcript,
  },
  {
    id: 'translations',
    surface: 'audio.translations',
    flags: ['audio.translations'],
    kinds: ['translation'],
    path: at('/v1/audio/translations'),
    body: (model) => form({ model, file: silence() }),
    read: saidBy.transcript,
  },
  {
    id: 'images',
    surface: 'images',
    flags: ['images'],
    kinds: ['images'],
    costly: true,
    path: at('/v1/images/generations'),
    body: (model) => ({ model, prompt: 'a grey square', n: 1 }),
    read: saidBy.images,
  },
  {
    id: 'image edits',
    surface: 'images.edits',
    flags: ['images.edits'],
    kinds: ['images'],
    costly: true,
    path: at('/v1/images/edits'),
    body: (model) => form({ model, prompt: 'make it darker', image: greySquare() }),
    read: saidBy.images,
  },
]

/** The result of a call. */
export interface LiveAnswer {
  readonly ok: boolean
  /** 0 without a reply. */
  readonly status: number
  /** A short description of the reply, or the error. */
  readonly said: string
  readonly ms: number
  readonly requestId: string | undefined
  /** How to fix it, if the error tells. */
  readonly fix: string | undefined
}

export interface LiveChoice {
  /** Capabilities of the route: a missing flag is false. */
  readonly capabilities: Readonly<Record<string, boolean>>
  /** The upstream model. */
  readonly upstreamModel: string
  /** Surfaces of the gateway; absent: all. */
  readonly surfaces?: readonly string[] | undefined
}

/** The calls that a route declares and its model can probably answer. */
export function liveCallsFor({ capabilities, upstreamModel, surfaces }: LiveChoice): LiveCall[] {
  return liveCalls.filter(
    ({ flags, kinds, surface }) =>
      flags.every((flag) => capabilities[flag] === true) &&
      fitsModel(kinds, upstreamModel) &&
      (surfaces?.includes(surface) ?? true),
  )
}

/**
 * Makes one call to a model. `send` gets a path of the gateway and `fetch` options, and adds the
 * key. Never rejects: errors are in the result.
 */
export async function makeLiveCall(
  call: LiveCall,
  model: string,
  send: (path: string, init: RequestInit) => Promise<Response>,
): Promise<LiveAnswer> {
  const start = performance.now()
  const answer = { ok: false, status: 0, requestId: undefined as string | undefined }
  try {
    const body = call.body(model)
    const reply = await send(call.path(model), {
      method: 'POST',
      ...(body instanceof FormData
        ? { body }
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    answer.status = reply.status
    answer.requestId = reply.headers.get('x-request-id') ?? undefined
    const { text, failure } = reply.ok
      ? await call.read(reply)
      : { text: '', failure: readFailure(await reply.text()) }
    const ms = performance.now() - start
    if (failure === undefined) return { ...answer, ok: true, said: text, ms, fix: undefined }
    const fix = fixOf(call, failure.status ?? reply.status, failure.code)
    return { ...answer, said: failure.message, ms, fix }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    return { ...answer, said, ms: performance.now() - start, fix: undefined }
  }
}

/** @param status The vendor's, where it answered. */
function fixOf({ flags }: LiveCall, status: number, code: string | undefined): string | undefined {
  if (code === 'insufficient_quota') return 'add credit to your account at the vendor'
  if (code === 'upstream_timeout' || code === 'upstream_transport') {
    return 'check base_url of the provider: no server, or another one, answers there'
  }
  switch (status) {
    case 401:
    case 403:
      return 'check the API key of the provider and its permissions at the vendor'
    case 404:
      return 'check upstream_model of the route and base_url of the provider'
    case 429:
      return 'wait, or raise the rate limit at the vendor'
    case 400:
    case 405:
    case 422:
      return `if the model does not support this API, set capabilities: { ${flags.at(-1)}: false } on its route`
    default:
      return undefined
  }
}
