import { errorOfEvent, textOfEvent, textOfReply } from '@/lib/stream-text.ts'

export interface CallError {
  readonly code: string
  readonly message: string
}

/** The progress of a call. */
export interface Progress {
  /** Absent until the response starts. */
  readonly status?: number
  readonly requestId?: string
  readonly text: string
  readonly events: number
  readonly firstTextMs?: number
  readonly error?: CallError
  /** The last event, or the whole response. */
  readonly last?: unknown
}

export interface Call {
  readonly path: string
  readonly key: string
  readonly body: unknown
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

/**
 * Calls the gateway like any client, with an API key and without the session, and reports progress.
 * Resolves at the end of the response; rejects if it is stopped or the gateway is unreachable.
 */
export async function callGateway(call: Call): Promise<Progress> {
  const began = performance.now()
  const response = await fetch(call.path, {
    method: 'POST',
    credentials: 'omit',
    headers: { authorization: `Bearer ${call.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(call.body),
    signal: call.signal,
  })
  const requestId = response.headers.get('x-request-id')
  let progress: Progress = {
    status: response.status,
    ...(requestId !== null && { requestId }),
    text: '',
    events: 0,
  }
  const tell = (changes: Partial<Progress>) => {
    progress = { ...progress, ...changes }
    call.onProgress(progress)
  }
  tell({})
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    const body: unknown = await response.json().catch(() => undefined)
    const error = response.ok ? undefined : errorOf(body, response.status)
    tell({
      text: textOfReply(body),
      events: 1,
      last: body,
      firstTextMs: performance.now() - began,
      ...(error && { error }),
    })
    return progress
  }
  for await (const event of eventsOf(response)) {
    const text = progress.text + textOfEvent(event)
    const error = errorOfEvent(event)
    tell({
      text,
      events: progress.events + 1,
      last: event,
      ...(text !== '' && progress.text === '' && { firstTextMs: performance.now() - began }),
      ...(error && { error }),
    })
  }
  return progress
}

/** The models that a key may use; rejects with the gateway's error message. */
export async function modelsOf(key: string, signal: AbortSignal): Promise<readonly string[]> {
  const response = await fetch('/v1/models', {
    credentials: 'omit',
    headers: { authorization: `Bearer ${key}` },
    signal,
  })
  const body = (await response.json().catch(() => undefined)) as
    | { readonly data?: readonly { readonly id: string }[] }
    | undefined
  if (!response.ok) throw new Error(errorOf(body, response.status).message)
  return (body?.data ?? []).map(({ id }) => id)
}

function errorOf(body: unknown, status: number): CallError {
  return (
    errorOfEvent(body) ?? {
      code: 'unknown',
      message: `The gateway returned status ${status}.`,
    }
  )
}

/** The data of server-sent events, parsed if it is JSON. */
export async function* eventsOf(response: Pick<Response, 'body'>): AsyncGenerator<unknown> {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    rest += value ?? ''
    const blocks = rest.split(/\r?\n\r?\n/)
    rest = done ? '' : (blocks.pop() ?? '')
    for (const block of blocks) {
      const data = block
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart())
        .join('\n')
      if (data === '' || data === '[DONE]') continue
      try {
        yield JSON.parse(data)
      } catch {
        yield data
      }
    }
    if (done) return
  }
}
