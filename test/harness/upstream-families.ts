import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'

/** What a believable reply says; `usage: null` leaves the counters out. */
export interface ReplyOptions {
  readonly text?: string
  /** The text in streamed pieces; wins over `text`. */
  readonly pieces?: readonly string[]
  readonly usage?: JsonObject | null
  /** Call the offered tool. Default: when tools are offered and none has answered yet. */
  readonly callTool?: boolean
  /** Call this tool, whatever is offered. */
  readonly call?: SpokenCall
  /** Stands at the end of the reply's ids. Default: nothing, so that all replies have the same. */
  readonly turn?: string
  /** What it thinks aloud before; in responses an item of its own. Default: nothing. */
  readonly reasoning?: string
}

/** A call of a tool. */
export interface SpokenCall {
  readonly id: string
  readonly name: string
  /** JSON text of the arguments, in pieces. */
  readonly pieces: readonly string[]
}

export const chatUsage = {
  prompt_tokens: 24,
  completion_tokens: 17,
  total_tokens: 41,
  prompt_tokens_details: { cached_tokens: 8, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 5,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
} satisfies JsonObject

export const responsesUsage = {
  input_tokens: 31,
  input_tokens_details: { cached_tokens: 16 },
  output_tokens: 12,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 43,
} satisfies JsonObject

export const embeddingsUsage = { prompt_tokens: 7, total_tokens: 7 } satisfies JsonObject

/** What a believable reply says: a text in pieces, or a call with its arguments in pieces. */
export const spoken = {
  pieces: ['Rivers', ' run', ' to', ' the', ' sea', ',', ' größer', ' — 海', '.'],
  callId: 'call_9f2LkQ0sTzXb',
  arguments: ['{"', 'city', '":"', 'Oslo', '"}'],
} as const
const CREATED = 1_790_000_000

/** A chat completion for this request body, as an OpenAI-compatible upstream words it. */
export function chatCompletion(request: JsonObject, options: ReplyOptions = {}): JsonObject {
  const tool = toolFor(request, options)
  return {
    id: `chatcmpl-Bq7dXyTest${options.turn ?? ''}`,
    object: 'chat.completion',
    created: CREATED,
    model: servedModel(request),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: tool === undefined ? textOf(options) : null,
          ...(tool === undefined
            ? {}
            : {
                tool_calls: [
                  {
                    id: tool.id,
                    type: 'function',
                    function: { name: tool.name, arguments: tool.pieces.join('') },
                  },
                ],
              }),
          ...(options.reasoning === undefined ? {} : { reasoning_content: options.reasoning }),
          refusal: null,
          annotations: [],
        },
        logprobs: null,
        finish_reason: tool === undefined ? 'stop' : 'tool_calls',
      },
    ],
    ...(options.usage === null ? {} : { usage: options.usage ?? chatUsage }),
    service_tier: 'default',
    system_fingerprint: 'fp_a1b2c3d4e5',
  }
}

/** The same as stream frames, `[DONE]` last; usage only when the request asks for it. */
export function chatFrames(request: JsonObject, options: ReplyOptions = {}): string[] {
  const tool = toolFor(request, options)
  const withUsage =
    options.usage !== null &&
    isJsonObject(request.stream_options) &&
    request.stream_options.include_usage === true
  const chunk = (choices: JsonValue[], usage: JsonObject | null = null) =>
    frame({
      id: `chatcmpl-Bq7dXyTest${options.turn ?? ''}`,
      object: 'chat.completion.chunk',
      created: CREATED,
      model: servedModel(request),
      service_tier: 'default',
      system_fingerprint: 'fp_a1b2c3d4e5',
      choices,
      ...(withUsage ? { usage } : {}),
    })
  const delta = (value: JsonObject, finish: string | null = null) =>
    chunk([{ index: 0, delta: value, logprobs: null, finish_reason: finish }])
  const call = (value: JsonObject) => ({ tool_calls: [{ index: 0, ...value }] })

  const frames =
    tool === undefined
      ? [
          delta({ role: 'assistant', content: '', refusal: null }),
          ...(options.reasoning === undefined
            ? []
            : [delta({ reasoning_content: options.reasoning })]),
          ...piecesOf(options).map((content) => delta({ content })),
          delta({}, 'stop'),
        ]
      : [
          delta({
            role: 'assistant',
            content: null,
            ...call({
              id: tool.id,
              type: 'function',
              function: { name: tool.name, arguments: '' },
            }),
          }),
          ...tool.pieces.map((piece) => delta(call({ function: { arguments: piece } }))),
          delta({}, 'tool_calls'),
        ]
  if (withUsage) frames.push(chunk([], options.usage ?? chatUsage))
  frames.push('data: [DONE]\n\n')
  return frames
}

/** A response object for this request body. */
export function responseObject(request: JsonObject, options: ReplyOptions = {}): JsonObject {
  return {
    ...responseEnvelope(request, 'completed', options),
    output: [...thoughtItem(request, options), outputItem(request, options)],
    ...(options.usage === null ? {} : { usage: options.usage ?? responsesUsage }),
  }
}

/** The event grammar of a streamed response, ended by `response.completed`. */
export function responseFrames(request: JsonObject, options: ReplyOptions = {}): string[] {
  const frames: string[] = []
  const emit = (type: string, fields: JsonObject) =>
    frames.push(`event: ${type}\n${frame({ type, sequence_number: frames.length, ...fields })}`)
  const item = outputItem(request, options)
  const tool = toolFor(request, options)
  const thoughts = thoughtItem(request, options)
  const output_index = thoughts.length
  const at = { item_id: item.id, output_index }

  emit('response.created', { response: responseEnvelope(request, 'in_progress', options) })
  emit('response.in_progress', { response: responseEnvelope(request, 'in_progress', options) })
  for (const thought of thoughts) {
    const { id: item_id, summary } = thought
    const place = { item_id, output_index: 0, summary_index: 0 }
    const [part] = summary as [JsonObject]
    const emptyPart = { ...part, text: '' }
    emit('response.output_item.added', { output_index: 0, item: { ...thought, summary: [] } })
    emit('response.reasoning_summary_part.added', { ...place, part: emptyPart })
    emit('response.reasoning_summary_text.delta', { ...place, delta: part.text ?? '' })
    emit('response.reasoning_summary_text.done', { ...place, text: part.text ?? '' })
    emit('response.reasoning_summary_part.done', { ...place, part })
    emit('response.output_item.done', { output_index: 0, item: thought })
  }
  const opened = { ...item, status: 'in_progress' }
  if (tool === undefined) {
    const part = { type: 'output_text', annotations: [], logprobs: [], text: '' }
    const text = textOf(options)
    emit('response.output_item.added', { output_index, item: { ...opened, content: [] } })
    emit('response.content_part.added', { ...at, content_index: 0, part })
    for (const piece of piecesOf(options)) {
      emit('response.output_text.delta', { ...at, content_index: 0, delta: piece, logprobs: [] })
    }
    emit('response.output_text.done', { ...at, content_index: 0, text, logprobs: [] })
    emit('response.content_part.done', { ...at, content_index: 0, part: { ...part, text } })
  } else {
    emit('response.output_item.added', { output_index, item: { ...opened, arguments: '' } })
    for (const piece of tool.pieces) {
      emit('response.function_call_arguments.delta', { ...at, delta: piece })
    }
    emit('response.function_call_arguments.done', { ...at, arguments: tool.pieces.join('') })
  }
  emit('response.output_item.done', { output_index, item })
  emit('response.completed', { response: responseObject(request, options) })
  return frames
}

/** An embeddings list with one short vector per input. */
export function embeddingsList(request: JsonObject, options: ReplyOptions = {}): JsonObject {
  const inputs = Array.isArray(request.input) ? request.input : [request.input]
  const vectors = inputs.map((_, index) => new Float32Array([0.25, -0.5, (index + 1) / 8]))
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding:
        request.encoding_format === 'base64'
          ? Buffer.from(vector.buffer).toString('base64')
          : [...vector],
    })),
    model: servedModel(request),
    ...(options.usage === null ? {} : { usage: options.usage ?? embeddingsUsage }),
  }
}

/** One SSE frame around a JSON value. */
export function frame(data: JsonValue): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

/** Upstreams answer with a dated name, so that a reply never carries the name it was asked for. */
function servedModel(request: JsonObject): string {
  return `${typeof request.model === 'string' ? request.model : 'unnamed'}-2026-08-06`
}

function responseEnvelope(
  request: JsonObject,
  status: string,
  { turn = '' }: ReplyOptions,
): JsonObject {
  return {
    id: `resp_68f1a2b3c4d5${turn}`,
    object: 'response',
    created_at: CREATED,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: null,
    model: servedModel(request),
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: {},
  }
}

function thoughtItem(
  { include }: JsonObject,
  { reasoning, turn = '' }: ReplyOptions,
): JsonObject[] {
  if (reasoning === undefined) return []
  const asked = Array.isArray(include) && include.includes('reasoning.encrypted_content')
  return [
    {
      id: `rs_68f1a2b3c4d8${turn}`,
      type: 'reasoning',
      ...(asked && { encrypted_content: 'gAAAAABo8aKzxQ' }),
      summary: [{ type: 'summary_text', text: reasoning }],
    },
  ]
}

function outputItem(request: JsonObject, options: ReplyOptions): JsonObject {
  const tool = toolFor(request, options)
  return tool === undefined
    ? {
        id: `msg_68f1a2b3c4d6${options.turn ?? ''}`,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', annotations: [], logprobs: [], text: textOf(options) }],
      }
    : {
        id: `fc_68f1a2b3c4d7${options.turn ?? ''}`,
        type: 'function_call',
        status: 'completed',
        call_id: tool.id,
        name: tool.name,
        arguments: tool.pieces.join(''),
      }
}

function piecesOf(options: ReplyOptions): readonly string[] {
  if (options.pieces !== undefined) return options.pieces
  return options.text === undefined ? spoken.pieces : [options.text]
}

function textOf(options: ReplyOptions): string {
  return piecesOf(options).join('')
}

/** The tool to call, if any. Both families' tool shapes are read. */
function toolFor(request: JsonObject, options: ReplyOptions): SpokenCall | undefined {
  if (options.call !== undefined) return options.call
  const turns = request.messages ?? request.input
  const answered =
    Array.isArray(turns) &&
    turns.some((t) => isJsonObject(t) && (t.role === 'tool' || t.type === 'function_call_output'))
  if (!(options.callTool ?? !answered) || !Array.isArray(request.tools)) return undefined
  const [tool] = request.tools
  if (!isJsonObject(tool)) return undefined
  const name = isJsonObject(tool.function) ? tool.function.name : tool.name
  return typeof name === 'string'
    ? { id: spoken.callId, name, pieces: spoken.arguments }
    : undefined
}
