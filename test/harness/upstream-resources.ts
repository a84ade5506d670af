import type { JsonObject } from 'model-gateway/plugin'

/** Larger uploads are counted, and not kept. */
const MOST_KEPT = 10_000_000

/** A call as it arrived. */
export interface ResourceCallSeen {
  readonly method: string
  /** With its query, below `/v1`. */
  readonly path: string
  readonly authorization: string | null
  readonly contentLength: string | null
  readonly body: string
}

export interface ResourceUpstream {
  /** `http://127.0.0.1:port/v1` */
  readonly url: string
  readonly calls: ResourceCallSeen[]
  /** What was uploaded, by the id of the file. */
  readonly files: ReadonlyMap<string, string>
  /** Ends a batch. `lines`: those that are in its output, from the first; default all. */
  end(batchId: string, status: string, lines?: number): void
  /** Ends a response in the background. */
  endResponse(id: string, status: string): void
  /** How many readers of an endless content have left. */
  readonly left: number
  stop(): Promise<void>
}

/** The name of a file whose content does not end. */
export const ENDLESS = 'endless.bin'

/** What each reply says that it has used. */
const usedByChat = {
  prompt_tokens: 1_000,
  completion_tokens: 100,
  total_tokens: 1_100,
  prompt_tokens_details: { cached_tokens: 0 },
}
const usedByResponse = { input_tokens: 2_000, output_tokens: 300, total_tokens: 2_300 }

/**
 * The files, batches and stored responses of an OpenAI-compatible account, in the shapes of the API reference
 * (https://platform.openai.com/docs/api-reference/files, /batch and /responses). `name` is in all its ids.
 */
export function startResourceUpstream(name: string): ResourceUpstream {
  const calls: ResourceCallSeen[] = []
  const files = new Map<string, string>()
  const objects = new Map<string, JsonObject>()
  const batches = new Map<string, JsonObject>()
  const responses = new Map<string, JsonObject>()
  let made = 0
  let left = 0
  const now = () => Math.floor(Date.now() / 1000)
  const gone = (what: string) =>
    Response.json(
      { error: { message: `No such ${what}`, type: 'invalid_request_error', code: null } },
      { status: 404 },
    )

  function addFile(content: string, purpose: string, filename: string, bytes = content.length) {
    const id = `file-${name}${++made}`
    const object = { id, object: 'file', bytes, created_at: now(), filename, purpose }
    files.set(id, content)
    objects.set(id, { ...object, status: 'processed' })
    return objects.get(id) as JsonObject
  }

  async function upload(request: Request): Promise<Response> {
    const length = Number(request.headers.get('content-length'))
    if (length > MOST_KEPT) {
      let bytes = 0
      const reader = (request.body as ReadableStream<Uint8Array>).getReader()
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        bytes += piece.value.length
      }
      see(request, `${bytes} bytes`)
      return Response.json(addFile('', 'user_data', 'large.bin', bytes))
    }
    const form = await request.formData()
    const file = form.get('file') as File
    see(request, [...form.keys()].join())
    return Response.json(addFile(await file.text(), String(form.get('purpose')), file.name))
  }

  function see({ method, url, headers }: Request, body: string): void {
    const { pathname, search } = new URL(url)
    const authorization = headers.get('authorization')
    const contentLength = headers.get('content-length')
    const path = pathname.replace(/^\/v1\//, '') + search
    calls.push({ method, path, authorization, contentLength, body })
  }

  function create(kind: string, body: JsonObject): Response {
    if (kind === 'batches') {
      const id = `batch_${name}${++made}`
      const { input_file_id, endpoint, completion_window, metadata = null } = body
      const batch = {
        ...{ id, object: 'batch', endpoint, errors: null, input_file_id, completion_window },
        ...{ status: 'validating', output_file_id: null, error_file_id: null },
        ...{ created_at: now(), request_counts: { total: 0, completed: 0, failed: 0 }, metadata },
      }
      batches.set(id, batch as JsonObject)
      return Response.json(batch)
    }
    const id = `resp_${name}${++made}`
    const background = body.background === true
    const response = {
      ...{ id, object: 'response', created_at: now(), model: body.model, background, error: null },
      ...{ status: background ? 'queued' : 'completed', store: body.store ?? true },
      output: background ? [] : [message(id)],
      usage: background ? null : usedByResponse,
    } as JsonObject
    if (body.store !== false) responses.set(id, response)
    return Response.json(response)
  }

  const endless = () =>
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        await Bun.sleep(5)
        controller.enqueue(new Uint8Array(1_000))
      },
      cancel() {
        left += 1
      },
    })

  const message = (id: string) => ({
    ...{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text: `from ${name}`, annotations: [] }],
  })

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 1_000_000_000,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      const [, , kind = '', id, rest] = pathname.split('/')
      const { method } = request
      if (method === 'POST' && kind === 'files') return await upload(request)
      const text = await request.text()
      see(request, text)
      if (method === 'POST' && id === undefined) return create(kind, JSON.parse(text))
      if (kind === 'files' && id !== undefined) {
        const object = objects.get(id)
        if (object === undefined) return gone('File')
        if (method === 'DELETE') {
          objects.delete(id)
          return Response.json({ id, object: 'file', deleted: true })
        }
        if (rest === undefined) return Response.json(object)
        const headers = { 'content-type': 'application/octet-stream' }
        if (object.filename === ENDLESS) return new Response(endless(), { headers })
        return new Response(files.get(id), { headers })
      }
      if (kind === 'batches') {
        if (id === undefined) return Response.json({ object: 'list', data: [...batches.values()] })
        const batch = batches.get(id)
        if (batch === undefined) return gone('batch')
        if (rest === 'cancel') batch.status = 'cancelling'
        return Response.json(batch)
      }
      const response = responses.get(id ?? '')
      if (response === undefined) return gone('response')
      if (method === 'DELETE') {
        responses.delete(id ?? '')
        return Response.json({ id: id ?? '', object: 'response', deleted: true })
      }
      if (rest === 'cancel') response.status = 'cancelled'
      if (rest === 'input_items') {
        const content = [{ type: 'input_text', text: 'hi' }]
        const data = [{ id: 'msg_in', type: 'message', role: 'user', content }]
        return Response.json({ object: 'list', data, has_more: false })
      }
      if (searchParams.get('stream') !== 'true') return Response.json(response)
      const event = { type: 'response.completed', sequence_number: 9, response }
      return new Response(`event: response.completed\ndata: ${JSON.stringify(event)}\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      })
    },
  })

  return {
    get left() {
      return left
    },
    url: `http://127.0.0.1:${server.port}/v1`,
    calls,
    files,
    end(batchId, status, most) {
      const batch = batches.get(batchId) as JsonObject
      const input = (files.get(String(batch.input_file_id)) ?? '').split('\n').filter(Boolean)
      const output = input.slice(0, most).map((line, at) => {
        const { custom_id, body } = JSON.parse(line)
        const reply = { object: 'chat.completion', model: `${body.model}-2026-01-01` }
        const choice = {
          index: 0,
          message: { role: 'assistant', content: 'ok' },
          finish_reason: 'stop',
        }
        const whole = { ...reply, service_tier: 'default', choices: [choice], usage: usedByChat }
        const response = { status_code: 200, request_id: `req_${at}`, body: whole }
        return JSON.stringify({ id: `batch_req_${at}`, custom_id, response, error: null })
      })
      if (output.length > 0) {
        batch.output_file_id = addFile(output.join('\n'), 'batch_output', 'out.jsonl').id as string
      }
      batch.status = status
    },
    endResponse(id, status) {
      const response = responses.get(id) as JsonObject
      Object.assign(response, { status, output: [message(id)], usage: usedByResponse })
    },
    stop: () => server.stop(true),
  }
}
