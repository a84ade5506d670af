import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { diag } from '@opentelemetry/api'
import { readBytes } from 'model-gateway/wire'
import type { ExportTls } from './export-environment.ts'
import { attribute } from './otlp-json.ts'

/** Spans of one export, and spans that wait at most; what comes on top of those is given up. */
const BATCH = 512
const MOST_WAITING = 2048
/** The longest that a span waits for others. */
const GATHER_MS = 5000
const RETRY_MS = 500
/** Largest answer of a collector. */
const MOST_BYTES = 1024 * 1024
const WORTH_A_RETRY = new Set([429, 502, 503, 504])

const compressed = promisify(gzip)

export interface SpanExport {
  /** Takes a span, as OTLP has it in JSON. */
  add(span: string): void
  /** Sends what is left. Never rejects. */
  stop(): Promise<void>
}

/**
 * Sends spans that are JSON already to a collector, in batches, one after the other. The SDK's own
 * way from a span to that text costs a dozen times as much, which counts where each request has two.
 */
export function createSpanExport(options: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: Readonly<Record<string, string>>
  readonly scope: string
  /** Milliseconds for one batch, its retries included; after that it is dropped. */
  readonly timeoutMs: number
  readonly compress?: boolean
  readonly tls?: ExportTls
  /** Called when a batch has arrived. */
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

  /** What went wrong with how many spans, and after how many milliseconds it may go better. */
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
      // Without a pause a collector that wants to be asked at once would be asked all the time.
      const after = Math.max(pause, retryAfterMs(response.headers.get('retry-after')))
      const retry = WORTH_A_RETRY.has(status) ? after : undefined
      return { what: `the collector answered ${status}`, retry }
    } catch (error) {
      return { what: (error as Error).message, retry: pause }
    }
  }

  async function send(spans: readonly string[]): Promise<void> {
    // Head and tail are joined with the spans: added to the whole text they would copy it.
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

  /** Sends batch after batch while there are more than `least` spans. */
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

/** What a collector that took the spans says of those that it does not keep. */
function rejection(text: string): Fault | undefined {
  let reply: { partialSuccess?: { rejectedSpans?: unknown; errorMessage?: unknown } } | null
  try {
    reply = JSON.parse(text)
  } catch {
    // Some answer with nothing, or with a word.
    return undefined
  }
  const { rejectedSpans, errorMessage } = reply?.partialSuccess ?? {}
  // 64 bits are text in JSON.
  const lost = Number(rejectedSpans ?? 0)
  if (!(lost > 0)) return undefined
  return { what: `the collector rejected them: ${errorMessage}`, retry: undefined, lost }
}

interface Fault {
  readonly what: string
  /** Milliseconds until it may go better; undefined: it will not. */
  readonly retry: number | undefined
  /** undefined: all of them. */
  readonly lost?: number
}

/** Milliseconds of a `retry-after`, which has seconds or a date; 0 when it says nothing. */
function retryAfterMs(header: string | null): number {
  if (header === null) return 0
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? 0 : ms
}
