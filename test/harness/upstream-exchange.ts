import type { JsonValue } from 'model-gateway/plugin'
import type { Wire, WireRequest } from './upstream-wire.ts'

/**
 * How a call ended: `sent` is a complete reply, `aborted` a caller that left before it, `reset` and
 * `closed` what the script did to the connection.
 */
export type CallOutcome = 'open' | 'sent' | 'aborted' | 'reset' | 'closed'

/** Answers one call. One that returns without ending its reply leaves the caller waiting. */
export type Reply = (exchange: Exchange) => void | Promise<void>

/** One request that the upstream received, and what became of it. */
export interface JournalCall extends WireRequest {
  /** The body as JSON; undefined when it is none. */
  readonly body: JsonValue | undefined
  readonly receivedAt: Date
  readonly outcome: CallOutcome
  readonly endedAt: Date | undefined
  /** Resolves when the outcome is no longer `open`. */
  readonly ended: Promise<void>
}

/** One call and the ways to answer it. Once the caller has gone, all of them do nothing. */
export interface Exchange {
  readonly call: JournalCall
  readonly gone: AbortSignal
  /** Sleeps; wakes early when the caller goes. */
  sleep(ms: number): Promise<void>
  /** A whole reply with its content-length. */
  respond(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
  ): Promise<void>
  /** The head of a chunked reply, then its pieces, each flushed, then its end. */
  begin(status: number, headers: Readonly<Record<string, string>>): Promise<void>
  write(data: string | Uint8Array): Promise<void>
  end(): Promise<void>
  /** Bytes on the socket as they are. */
  raw(bytes: string | Uint8Array): Promise<void>
  reset(): void
  /** Ends the connection politely, whatever has been sent of the reply. */
  close(): void
}

type Finish = (outcome: Exclude<CallOutcome, 'open'>) => void

/** A new entry of the journal and the way to close it. */
export function journalEntry(request: WireRequest): { call: JournalCall; finish: Finish } {
  const ended = Promise.withResolvers<void>()
  const call = {
    ...request,
    body: parsed(request.rawBody),
    receivedAt: new Date(),
    outcome: 'open' as CallOutcome,
    endedAt: undefined as Date | undefined,
    ended: ended.promise,
  }
  return {
    call,
    finish(outcome) {
      if (call.outcome !== 'open') return
      call.outcome = outcome
      call.endedAt = new Date()
      ended.resolve()
    },
  }
}

/** Resolves when the reply is complete or the connection is over. */
export async function perform(
  reply: Reply,
  call: JournalCall,
  wire: Wire,
  finish: Finish,
): Promise<void> {
  const over = Promise.withResolvers<void>()
  const gone = () => {
    finish('aborted')
    over.resolve()
  }
  if (wire.gone.aborted) gone()
  else wire.gone.addEventListener('abort', gone, { once: true })

  function settle(outcome: 'sent' | 'reset' | 'closed'): void {
    if (!wire.gone.aborted) finish(outcome)
    over.resolve()
  }

  const exchange: Exchange = {
    call,
    gone: wire.gone,
    sleep: (ms) => sleep(ms, wire.gone),
    async respond(status, headers, body) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      const start = head(status, { ...headers, 'content-length': String(bytes.length) })
      await wire.send(Buffer.concat([Buffer.from(start), bytes]))
      settle('sent')
    },
    begin: (status, headers) =>
      wire.send(head(status, { ...headers, 'transfer-encoding': 'chunked' })),
    write(data) {
      const bytes = typeof data === 'string' ? Buffer.from(data) : data
      if (bytes.length === 0) return Promise.resolve()
      return wire.send(
        Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CRLF]),
      )
    },
    async end() {
      await wire.send('0\r\n\r\n')
      settle('sent')
    },
    raw: (bytes) => wire.send(bytes),
    reset() {
      settle('reset')
      wire.reset()
    },
    close() {
      settle('closed')
      wire.close()
    },
  }

  try {
    await reply(exchange)
  } catch (error) {
    // A faulty script must not look like a faulty gateway.
    console.error('the upstream script threw:', error)
    exchange.reset()
  }
  await over.promise
  wire.gone.removeEventListener('abort', gone)
}

const CRLF = Buffer.from('\r\n')

function head(status: number, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

function sleep(ms: number, gone: AbortSignal): Promise<void> {
  if (ms <= 0 || gone.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      gone.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    gone.addEventListener('abort', wake)
  })
}
