type Json = Readonly<Record<string, unknown>>

export interface Failure {
  readonly message: string
  readonly code: string | undefined
  /** The vendor's status, if the gateway reports it. */
  readonly status: number | undefined
}

/** A short description of a reply, or the reason for a failure with status 200. */
export interface Said {
  readonly text: string
  readonly failure?: Failure
}

const MOST_CHARACTERS = 60

/** The error in a body, in the format of any API of the gateway. */
export function readFailure(body: string): Failure {
  const parsed = parse(body)
  const error = (object(parsed.error) ?? parsed) as Json
  const message = text(error.message) ?? text(parsed.error) ?? (body.slice(0, 300) || 'no words')
  const code = text(error.gateway_code) === 'upstream_http_error' ? error.code : error.gateway_code
  const status = typeof error.upstream_status === 'number' ? error.upstream_status : undefined
  return { message, code: text(code) ?? text(error.code), status }
}

/** Reads the reply of each API. Throws an Error if an essential part is missing. */
export const saidBy = {
  async chat(reply: Response): Promise<Said> {
    const { message } = first(await json(reply), 'choices')
    return quoted(object(message)?.content)
  },

  async chatStream(reply: Response): Promise<Said> {
    let said = ''
    let ended = false
    for (const data of eventsOf(await reply.text())) {
      if (data === '[DONE]') ended = true
      else {
        const event = parse(data)
        if (event.error !== undefined) return { text: '', failure: readFailure(data) }
        const delta = object(object(list(event.choices)[0])?.delta)
        said += text(delta?.content) ?? ''
      }
    }
    if (!ended) throw new Error('the stream ended without [DONE]')
    return quoted(said)
  },

  async responses(reply: Response): Promise<Said> {
    const body = await json(reply)
    if (body.error) return { text: '', failure: readFailure(JSON.stringify(body)) }
    const parts = needed(body, 'output').flatMap((item) => list(object(item)?.content))
    return quoted(parts.map((part) => text(object(part)?.text) ?? '').join(''))
  },

  async messages(reply: Response): Promise<Said> {
    const blocks = needed(await json(reply), 'content')
    return quoted(blocks.map((block) => text(object(block)?.text) ?? '').join(''))
  },

  async google(reply: Response): Promise<Said> {
    const { content } = first(await json(reply), 'candidates')
    const parts = list(object(content)?.parts)
    return quoted(parts.map((part) => text(object(part)?.text) ?? '').join(''))
  },

  async completions(reply: Response): Promise<Said> {
    return quoted(first(await json(reply), 'choices').text)
  },

  async embeddings(reply: Response): Promise<Said> {
    const item = first(await json(reply), 'data')
    // Perplexity supports only this: https://docs.perplexity.ai/docs/embeddings/quickstart
    if (text(item.embedding) !== undefined) return { text: 'a vector as base64' }
    const vector = needed(item, 'embedding')
    return { text: `a vector of ${vector.length} numbers` }
  },

  async moderations(reply: Response): Promise<Said> {
    const { flagged } = first(await json(reply), 'results')
    return { text: flagged === true ? 'flagged' : 'not flagged' }
  },

  async rerank(reply: Response): Promise<Said> {
    const body = await json(reply)
    // Voyage and Fireworks: https://docs.voyageai.com/reference/reranker-api
    const { index, relevance_score } = first(body, 'data' in body ? 'data' : 'results')
    return { text: `document ${index} first, score ${relevance_score}` }
  },

  async transcript(reply: Response): Promise<Said> {
    const body = await json(reply)
    if (text(body.text) === undefined) throw new Error('the reply has no text')
    return quoted(body.text)
  },

  async images(reply: Response): Promise<Said> {
    const picture = first(await json(reply), 'data')
    const base64 = text(picture.b64_json)
    if (base64 !== undefined) return { text: `an image of ${kb((base64.length * 3) / 4)}` }
    if (text(picture.url) !== undefined) return { text: 'an image, as a URL' }
    throw new Error('the reply has no image')
  },

  async bytes(reply: Response): Promise<Said> {
    const { byteLength } = await reply.arrayBuffer()
    if (byteLength === 0) throw new Error('the reply is empty')
    return { text: `${kb(byteLength)} of ${reply.headers.get('content-type') ?? 'bytes'}` }
  },
}

async function json(reply: Response): Promise<Json> {
  const body = await reply.text()
  const parsed = parse(body)
  if (Object.keys(parsed).length > 0) return parsed
  throw new Error(`the reply is not a JSON object: ${shortened(body)}`)
}

function parse(body: string): Json {
  try {
    return object(JSON.parse(body)) ?? {}
  } catch {
    return {}
  }
}

function needed(body: Json, member: string): readonly unknown[] {
  const value = body[member]
  if (Array.isArray(value)) return value
  throw new Error(`the reply has no ${member}`)
}

function first(body: Json, member: string): Json {
  const item = object(needed(body, member)[0])
  if (item !== undefined) return item
  throw new Error(`${member} of the reply is empty`)
}

/** The data of server-sent events. */
function eventsOf(stream: string): string[] {
  return stream
    .split(/\r?\n\r?\n/)
    .map((event) => event.split(/\r?\n/).filter((line) => line.startsWith('data:')))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => line.slice(5).trimStart()).join('\n'))
}

/** Reasoning models may use up their tokens before answering, which counts as an answer. */
function quoted(said: unknown): Said {
  const words = text(said)?.trim() ?? ''
  return { text: words === '' ? 'a reply without text' : `"${shortened(words)}"` }
}

function shortened(words: string): string {
  const line = words.replaceAll(/\s+/g, ' ')
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS - 1)}…` : line
}

const kb = (bytes: number) => `${Math.max(1, Math.round(bytes / 1000))} kB`
const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const object = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
