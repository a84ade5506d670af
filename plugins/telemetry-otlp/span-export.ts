import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { diag } from '@opentelemetry/api'
import { readBytes } from 'model-gateway/wire'
import type { ExportTls } from './export-environment.ts'
import { attribute } from './otlp-json.ts'

/** Maximum number of spans per export, and of waiting spans; further spans are dropped. */
const BATCH = 512
const MOST_WAITING = 2048
/** Maximum time that a span waits for others. */
const GATHER_MS = 5000
const RETRY_MS = 500
/** Maximum size of a collector's reply. */
const MOST_BYTES = 1024 * 1024
const WORTH_A_RETRY = new Set([429, 502, 503, 504])

const compressed = promisify(gzip)

export interface SpanExport {
  /** Queues a span, as OTLP JSON. */
  add(span: string): void
  /** Sends the remaining spans. Never rejects. */
  stop(): Promise<void>
}

/**
 * Sends spans in JSON form to a collector, in batches, one at a time. The SDK's serialisation costs
 * twelve times as much, which matters with two spans per request.
 */
export function createSpanExport(options: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: Readonly<Record<string, string>>
  readonly scope: string
  /** Timeout of one batch including retries, in milliseconds; then it is dropped. */
  readonly timeoutMs: number
  readonly compress?: boolean
  readonly tls?: ExportTls
  /** Called after a successful batch. */
  readonly sent?: () => void
}): SpanExport {
  const { url, timeoutMs, compress = false, tls, sent } = options
  const headers = {
    ...options.headers,
    'content-type': 'application/json',
    ...(compress ? { 'content-encoding': 'gzip' } : {}),
  }
  const resource = Object.entries(options.resource).map(([key, value]) =>
    attribute(JSON.stringify(key).slice(1, -1), value),
  )
  const head = `{"resourceSpans":[{"resource":{"attributes":[${resource}]},"scopeSpans":[{"scope":${JSON.stringify({ name: options.scope })},"spans":[`
  const tail = ']}]}]}'
  const waiting: string[] = []
  let dropped = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> | undefined

  /** A failure: its reason, the number of spans, and the delay before a retry in milliseconds. */
  async function post(
    body: string | Uint8Array<ArrayBuffer>,
    ms: number,
    pause: number,
  ): Promise<Fault | undefined> {
    try {
      const signal = AbortSignal.timeout(Math.max(1, ms))
      const init = { method: 'POST', headers, body, signal, redirect: 'manual' } as const
      const response = await fetch(url, { ...init, ...(tls === undefined ? {} : { tls }) })
      const tooLong = () => new Error(`the collector answered with more than ${MOST_BYTES} bytes`)
      const text = new TextDecoder().decode(await readBytes(response.body, MOST_BYTES, tooLong))
      if (response.ok) return rejection(text)
      const { status } = response
      // A minimum pause, because a collector that asks for an immediate retry would be called in a
      // loop.
      const after = Math.max(pause, retryAfterMs(response.headers.get('retry-after')))
      const retry = WORTH_A_RETRY.has(status) ? after : undefined
      return { what: `the collector answered ${status}`, retry }
    } catch (error) {
      return { what: (error as Error).message, retry: pause }
    }
  }

  async function send(spans: readonly string[]): Promise<void> {
    // Head and tail are joined together with the spans; adding them later would copy the text.
    const last = spans.length - 1
    const text = spans
      .map((span, n) => `${n === 0 ? head : ''}${span}${n === last ? tail : ''}`)
      .join()
    const body = compress ? new Uint8Array(await compressed(text)) : text
    const deadline = performance.now() + timeoutMs
    for (let pause = RETRY_MS; ; pause *= 2) {
      const fault = await post(body, deadline - performance.now(), pause)
      if (fault === undefined) return sent?.()
      const { what, retry, lost = spans.length } = fault
      if (retry === undefined || performance.now() + retry >= deadline) {
        diag.warn(`traces: ${lost} spans were lost: ${what}`)
        return
      }
      await Bun.sleep(retry)
    }
  }

  /** Sends batches while more than `least` spans wait. */
  async function sendMoreThan(least: number): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    while (waiting.length > least) {
      await send(waiting.splice(0, BATCH))
      if (dropped > 0) diag.warn(`traces: ${dropped} spans were lost: the queue was full`)
      dropped = 0
    }
    sending = undefined
    if (waiting.length > 0) gather()
  }

  function gather(): void {
    timer ??= setTimeout(() => {
      sending ??= sendMoreThan(0)
    }, GATHER_MS)
    timer.unref()
  }

  return {
    add(span) {
      if (waiting.length === MOST_WAITING) {
        dropped++
        return
      }
      waiting.push(span)
      if (sending !== undefined) return
      if (waiting.length >= BATCH) sending = sendMoreThan(BATCH - 1)
      else gather()
    },
    async stop() {
      await sending
      await sendMoreThan(0)
    },
  }
}

/** The part of the spans that a collector rejected, in a successful reply. */
function rejection(text: string): Fault | undefined {
  let reply: { partialSuccess?: { rejectedSpans?: unknown; errorMessage?: unknown } } | null
  try {
    reply = JSON.parse(text)
  } catch {
    // Some collectors reply with an empty or non-JSON body.
    return undefined
  }
  const { rejectedSpans, errorMessage } = reply?.partialSuccess ?? {}
  // 64-bit integers are strings in JSON.
  const lost = Number(rejectedSpans ?? 0)
  if (!(lost > 0)) return undefined
  return { what: `the collector rejected them: ${errorMessage}`, retry: undefined, lost }
}

interface Fault {
  readonly what: string
  /** Milliseconds until a retry; undefined: do not retry. */
  readonly retry: number | undefined
  /** undefined: all spans. */
  readonly lost?: number
}

/** Milliseconds of a `retry-after` in seconds or as a date; 0 if absent. */
function retryAfterMs(header: string | null): number {
  if (header === null) return 0
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? 0 : ms
}
