import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { strictRefusal } from './strict-clouds.ts'
import { json, type Reply, sse, startUpstream } from './upstream.ts'
import {
  converseFrames,
  converseReply,
  exceptionFrame,
  framed,
  signedScope,
} from './upstream-clouds-aws.ts'
import { contentFrames, contentReply, embeddingsReply } from './upstream-clouds-content.ts'
import { type ApiCall, startGoogleCloud } from './upstream-clouds-google.ts'
import { messagesFrames, messagesReply, type Said } from './upstream-clouds-messages.ts'
import {
  chatCompletion,
  chatFrames,
  embeddingsList,
  frame,
  type ReplyOptions,
  responseFrames,
  responseObject,
  spoken,
} from './upstream-families.ts'

/** What goes wrong with the next calls: before the reply, within its stream, or at its end. */
export type CloudFault = 'throttled' | 'refused' | 'in_band' | 'cut'

/** One call that arrived, whatever became of it. */
export interface CloudCall {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
  /** As whom or for what the call proved to be made: `key`, `signed bedrock`, `id_token <audience>`. */
  readonly identity: string
}

export interface Clouds {
  /** Of the server that speaks OpenAI's APIs, with their version, and Anthropic's beside them. */
  readonly url: string
  /** Entries of `providers`, one of each type. Their ids are the types. */
  readonly providers: readonly JsonObject[]
  /** Every call, in order of arrival. */
  readonly calls: readonly CloudCall[]
  /** What the model thinks before it answers; undefined for nothing. */
  reasoning: string | undefined
  /** What the model says to a request; undefined for what it always says. */
  says: ((body: JsonObject) => ReplyOptions | undefined) | undefined
  fault: CloudFault | undefined
  clear(): void
  stop(): Promise<void>
}

/** What each counter of tokens answers. */
export const COUNTED = 1234
/** Stands in every message of a fault. */
export const faultMessage = 'Not today.'
/** What `url` takes, as a bearer token or in `x-api-key`. */
export const cloudKey = 'upstream-key-canary'
const AWS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'aws-secret-canary' }
/** What no caller may ever see. */
export const cloudSecrets = [cloudKey, AWS.secretAccessKey, 'ya29.']

/** How a cloud answers: with JSON, server-sent events or binary frames. */
interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly json?: JsonObject
  readonly events?: readonly string[]
  readonly frames?: readonly Uint8Array[]
}

/**
 * All clouds on loopback: an OpenAI-compatible server, Anthropic, AI Studio, Azure OpenAI, Cloud Run and
 * Vertex AI with their tokens, Bedrock. Each checks who calls as the real one does, and says the same in its own shape.
 */
export async function startClouds(): Promise<Clouds> {
  const upstream = await startUpstream()
  const google = startGoogleCloud()
  const credentials_file = google.serviceAccountFile()
  let calls: CloudCall[] = []

  /** Notes the call; the answer to it. */
  function receive(call: CloudCall): Answer {
    calls.push(call)
    if (call.identity === '') return refusal(call.path)
    return strictRefusal(call.path, call.body) ?? answer(call, optionsFor(call), clouds.fault)
  }

  function optionsFor({ body }: CloudCall): ReplyOptions {
    const { says, reasoning } = clouds
    return says?.(body) ?? (reasoning === undefined ? {} : { reasoning })
  }

  const reply: Reply = (x) => {
    const { path, headers, body } = x.call
    const scope = signedScope(x.call, AWS)
    const key = keyOf(path, headers) === cloudKey ? 'key' : ''
    const identity = scope === undefined ? key : `signed ${scope.service}`
    const made = receive({ path, headers, body: isJsonObject(body) ? body : {}, identity })
    if (made.frames !== undefined) return framed(made.frames)(x)
    return made.events === undefined
      ? json(made.json ?? {}, made.status, made.headers)(x)
      : sse(made.events)(x)
  }
  upstream.always(reply)

  const googleAnswer = ({ path, headers, body, audience }: ApiCall): Response => {
    const identity = audience === undefined ? 'access_token' : `id_token ${audience}`
    const made = receive({ path, headers: Object.fromEntries(headers), body, identity })
    return made.events === undefined
      ? Response.json(made.json, { status: made.status ?? 200 })
      : new Response(made.events.join(''), { headers: { 'content-type': 'text/event-stream' } })
  }
  google.answer = googleAnswer

  const origin = new URL(upstream.url).origin
  const clouds: Clouds = {
    url: upstream.url,
    providers: [
      { id: 'anthropic', type: 'anthropic', base_url: origin, api_key: `literal.${cloudKey}` },
      { id: 'gemini', type: 'gemini', base_url: origin, api_key: `literal.${cloudKey}` },
      {
        id: 'azure_openai',
        type: 'azure_openai',
        endpoint: origin,
        api_key: `literal.${cloudKey}`,
      },
      {
        id: 'generic_compat',
        type: 'generic_compat',
        base_url: upstream.url,
        auth: { mode: 'bearer', token: `literal.${cloudKey}` },
        pricing_provider_id: 'own',
      },
      {
        id: 'cloud_a_serverless_compat',
        type: 'cloud_a_serverless_compat',
        base_url: `${google.url}/v1`,
        audience: google.url,
        auth: { mode: 'service_account', credentials_file },
        pricing_provider_id: 'own',
      },
      {
        id: 'cloud_a_ml',
        type: 'cloud_a_ml',
        project_id: 'demo-project',
        api_host: google.url,
        auth: { mode: 'service_account', credentials_file },
      },
      {
        id: 'cloud_b_ml',
        type: 'cloud_b_ml',
        region: 'us-east-1',
        endpoint_url: origin,
        auth: {
          mode: 'static',
          access_key_id: `literal.${AWS.accessKeyId}`,
          secret_access_key: `literal.${AWS.secretAccessKey}`,
        },
      },
    ],
    get calls() {
      return calls
    },
    reasoning: undefined,
    says: undefined,
    fault: undefined,
    clear() {
      calls = []
      clouds.reasoning = undefined
      clouds.says = undefined
      clouds.fault = undefined
      // Drops the standing answer, too; the tokens stay good.
      google.clear()
      google.answer = googleAnswer
    },
    async stop() {
      await upstream.stop()
      await google.stop()
    },
  }
  return clouds
}

/** Each vendor looks for the key in a header of its own. */
function keyOf(path: string, headers: CloudCall['headers']): string | undefined {
  if (/^\/v1\/messages|\/models\?limit=/.test(path)) return headers['x-api-key']
  if (path.startsWith('/v1beta/')) return headers['x-goog-api-key']
  return headers['api-key'] ?? headers.authorization?.replace(/^Bearer /, '')
}

type Dialect = 'openai' | 'messages' | 'google' | 'aws'

function dialectOf(path: string): Dialect {
  if (/rawpredict$|\/messages(\/count_tokens)?$/i.test(path.split('?')[0] ?? '')) return 'messages'
  if (/^\/v1beta\/|\/publishers\//.test(path)) return 'google'
  return path.startsWith('/model/') ? 'aws' : 'openai'
}

/** 401 or 403, in the cloud's own words. */
function refusal(path: string): Answer {
  return { ...errorIn(dialectOf(path), 403), status: dialectOf(path) === 'aws' ? 403 : 401 }
}

/** An error body of the cloud's own. */
function errorIn(dialect: Dialect, status: number): Answer {
  const message = faultMessage
  switch (dialect) {
    case 'openai':
      return { status, json: { error: { message, type: 't', param: null, code: 'c' } } }
    case 'messages':
      return { status, json: { type: 'error', error: { type: 'rate_limit_error', message } } }
    case 'google':
      return { status, json: { error: { code: status, message, status: 'RESOURCE_EXHAUSTED' } } }
    case 'aws':
      return { status, json: { message }, headers: { 'x-amzn-errortype': 'ThrottlingException' } }
  }
}

const inBand: Record<Dialect, string> = {
  openai: frame({ error: { message: faultMessage, type: 'server_error', code: 'overloaded' } }),
  messages: `event: error\n${frame({ type: 'error', error: { type: 'overloaded_error', message: faultMessage } })}`,
  google: `data: ${JSON.stringify({ error: { code: 503, message: faultMessage, status: 'UNAVAILABLE' } })}\r\n\r\n`,
  aws: '',
}

function answer(call: CloudCall, options: ReplyOptions, fault?: CloudFault): Answer {
  const dialect = dialectOf(call.path)
  if (fault === 'refused') return refusal(call.path)
  if (fault === 'throttled') return errorIn(dialect, 429)
  const whole = healthy(call, options)
  if (fault === undefined) return whole
  if (whole.frames !== undefined) {
    const begun = whole.frames.slice(0, 6)
    const failed = exceptionFrame('throttlingException', { message: faultMessage })
    return { frames: fault === 'cut' ? begun : [...begun, failed] }
  }
  const begun = whole.events?.slice(0, 6) ?? []
  if (fault === 'cut') return { events: begun }
  return call.path.endsWith('/responses')
    ? { events: [...begun, responsesError] }
    : { events: [...begun, inBand[dialect]] }
}

const responsesError = `event: error\n${frame({ type: 'error', code: 'overloaded', message: faultMessage, param: null, sequence_number: 3 })}`

/** What the cloud says when all is well. */
function healthy({ path: url, body }: CloudCall, options: ReplyOptions): Answer {
  const path = url.split('?')[0] ?? ''
  const streamed = body.stream === true
  if (path.endsWith('/chat/completions')) {
    return streamed
      ? { events: chatFrames(body, options) }
      : { json: chatCompletion(body, options) }
  }
  if (path.endsWith('/responses')) {
    return streamed
      ? { events: responseFrames(body, options) }
      : { json: responseObject(body, options) }
  }
  if (path.endsWith(':countTokens')) return { json: { totalTokens: COUNTED } }
  if (/count.tokens(:rawPredict)?$/.test(path)) {
    return { json: path.endsWith('-tokens') ? { inputTokens: COUNTED } : { input_tokens: COUNTED } }
  }
  if (path.endsWith('/embeddings')) return { json: embeddingsList(body) }
  if (path.endsWith('/completions')) {
    const choices = [{ index: 0, text: spoken.pieces.join(''), finish_reason: 'stop' }]
    const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
    return { json: { id: 'cmpl-1', object: 'text_completion', created: 1, choices, usage } }
  }
  if (path.endsWith('/moderations')) {
    const results = [{ flagged: false, categories: {}, category_scores: {} }]
    return { json: { id: 'modr-1', model: 'omni-moderation-latest', results } }
  }
  if (path.endsWith('/models')) return { json: { data: [{ id: 'one' }, { id: 'two' }] } }
  if (/:(predict|embedContent|batchEmbedContents)$/.test(path))
    return { json: embeddingsReply(body) }
  if (path.includes('/converse')) {
    const reply = said(body, options, 'tool_use', 'end_turn', converseUsage)
    return path.endsWith('-stream')
      ? { frames: converseFrames(reply) }
      : { json: converseReply(reply) }
  }
  if (/:(streamG|g)enerateContent$/.test(path)) {
    const reply = said(body, options, 'STOP', 'STOP', contentUsage)
    return path.includes(':stream')
      ? { events: contentFrames(reply) }
      : { json: contentReply(reply) }
  }
  const reply = said(body, options, 'tool_use', 'end_turn', messagesUsage)
  return streamed || path.endsWith(':streamRawPredict')
    ? { events: messagesFrames(reply) }
    : { json: messagesReply(reply) }
}

const messagesUsage = { input_tokens: 16, cache_read_input_tokens: 8, output_tokens: 17 }
const converseUsage = {
  inputTokens: 16,
  cacheReadInputTokens: 8,
  cacheWriteInputTokens: 0,
  outputTokens: 17,
  totalTokens: 41,
}
const contentUsage = {
  promptTokenCount: 24,
  cachedContentTokenCount: 8,
  candidatesTokenCount: 12,
  thoughtsTokenCount: 5,
  totalTokenCount: 41,
}

/** The same text, or the same call, as an OpenAI-compatible upstream would say. */
function said(
  body: JsonObject,
  { reasoning, text, call, turn = '' }: ReplyOptions,
  called: string,
  ended: string,
  usage: JsonObject,
): Said {
  const request = JSON.stringify(body)
  const offered = /"(?:tools|toolConfig)":/.test(request)
  const answered = /"(?:tool_result|toolResult|functionResponse)"/.test(request)
  const asked = text === undefined && offered && !answered
  const tool =
    call ??
    (asked ? { id: spoken.callId, name: 'get_weather', pieces: spoken.arguments } : undefined)
  return {
    blocks: [
      ...(reasoning === undefined
        ? []
        : [{ kind: 'thinking' as const, pieces: [reasoning], signature: 'c2ln' }]),
      tool === undefined
        ? { kind: 'text' as const, pieces: text === undefined ? spoken.pieces : [text] }
        : { kind: 'tool' as const, ...tool },
    ],
    stopReason: tool === undefined ? ended : called,
    usage,
    turn,
  }
}
