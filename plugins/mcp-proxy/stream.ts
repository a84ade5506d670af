import { GatewayError, nextTurn } from 'model-gateway/plugin'
import { createBoundary, KEEP_ALIVE } from 'model-gateway/wire'
import type { McpLimits } from './exchange.ts'

const COMMENT = new TextEncoder().encode(KEEP_ALIVE)
/** A bare newline, because some MCP clients fail on comment lines. */
const OPENING = new TextEncoder().encode('\n')
/**
 * Bun sends headers only with the first byte of the body, and some clients wait for the headers.
 */
const OPENING_MS = 100

/**
 * Why a reply ended: the server ended it, it broke, the server went silent, or the caller no longer
 * needs it.
 */
export type Ending = 'ended' | 'broken' | 'idle' | 'left'

export interface PassOn {
  readonly limits: McpLimits
  /** Registers a listener for the disconnect of the caller. */
  whenLeft(listener: () => void): void
  readonly upstream: AbortController
  /** Whether comments may be sent between events. */
  readonly events: boolean
  /**
   * Whether the caller may keep the stream. Called about as often as comments are due; never
   * rejects. Absent: always.
   */
  mayGoOn?(): Promise<boolean>
  /** Transforms a piece; undefined: nothing is sent yet. Throwing breaks the stream. */
  pass(bytes: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>
  /** Called once. */
  over(ending: Ending): void
}

export interface PassedOn {
  readonly stream: ReadableStream<Uint8Array>
  /** Ends it as if the server had. */
  end(): void
}

/** A source that is read piece by piece: a reader, or the rest of one. */
export interface Source {
  read(): Promise<Piece>
  cancel(): Promise<void>
}

interface Piece {
  /** Undefined when all is read. */
  readonly value?: Uint8Array | undefined
}

/** Bytes if the body is complete, a source if it continues. */
export type Begun = { readonly whole: Uint8Array<ArrayBuffer> } | { readonly rest: Source }

/**
 * Reads a body until the next turn of the event loop, at most `maxBytes` and one piece. Most event
 * streams are one event and complete by then; streaming them would cost a fifth more. Throws
 * `upstream_transport` if it breaks before the first byte, because the caller can still get an
 * error then.
 */
export async function readBeginning(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  upstream: AbortController,
): Promise<Begun> {
  const reader = body.getReader()
  const pieces: Uint8Array[] = []
  let size = 0
  let isWhole = false
  let hasTurned = false
  let broken: { readonly error: unknown } | undefined
  let pending = read()

  function read(): Promise<Piece> {
    const next: Promise<Piece> = reader.read()
    next.then(take, (error) => {
      broken = { error }
    })
    return next
  }
  function take({ value }: Piece) {
    // It is the next that the source gives then.
    if (hasTurned || size > maxBytes) return
    if (value === undefined) {
      isWhole = true
      return
    }
    pieces.push(value)
    size += value.byteLength
    pending = read()
  }

  await nextTurn()
  hasTurned = true
  if (isWhole) return { whole: Buffer.concat(pieces, size) }
  if (broken !== undefined && size === 0) throw upstreamFailure(broken.error, upstream)
  const ahead = [...pieces.map((value) => Promise.resolve({ value })), pending]
  return { rest: { read: () => ahead.shift() ?? reader.read(), cancel: () => reader.cancel() } }
}

/** Forwards a body piece by piece, with a limit on silence, until the caller leaves. */
export function passOn(source: Source, options: PassOn): PassedOn {
  const { limits, upstream, events } = options
  const boundary = events ? createBoundary() : undefined
  let sign = OPENING
  let signMs = Math.min(OPENING_MS, limits.keepAliveMs)
  let heardAt = performance.now()
  let sentAt = heardAt
  let isOver = false
  /** Backpressure: does not read from the server while the caller does not read. */
  let isRead = true
  let controller: ReadableStreamDefaultController<Uint8Array>
  let timer = setTimeout(look, events ? signMs : limits.idleMs)

  function finish(ending: Ending): boolean {
    if (isOver) return false
    isOver = true
    clearTimeout(timer)
    if (ending !== 'ended') {
      upstream.abort(new GatewayError('upstream_timeout', 'the caller no longer needs the reply'))
      source.cancel().catch(() => {})
    }
    options.over(ending)
    return true
  }
  function left() {
    finish('left')
  }
  function close(ending: Ending) {
    if (finish(ending)) controller.close()
  }
  function sent(at: number) {
    sentAt = at
    sign = COMMENT
    signMs = limits.keepAliveMs
  }
  function look() {
    const now = performance.now()
    void options.mayGoOn?.().then((may) => {
      if (!may) close('left')
    })
    if (now - heardAt >= limits.idleMs) return close(isRead ? 'idle' : 'left')
    let next = limits.idleMs - (now - heardAt)
    if (boundary !== undefined) {
      // Do not queue comments for a caller that does not read.
      const isEmpty = (controller.desiredSize ?? -1) >= 0
      if (now - sentAt >= signMs && isRead && isEmpty && boundary.between()) {
        controller.enqueue(sign)
        sent(now)
      }
      next = Math.min(next, signMs - (now - sentAt))
    }
    timer = setTimeout(look, next <= 0 ? limits.keepAliveMs : next)
  }
  options.whenLeft(left)

  async function pull(): Promise<void> {
    isRead = true
    heardAt = performance.now()
    try {
      for (;;) {
        const { value } = await source.read()
        if (isOver) return
        if (value === undefined) return close('ended')
        heardAt = performance.now()
        const passed = options.pass(value)
        const bytes = passed instanceof Promise ? await passed : passed
        if (isOver) return
        if (bytes === undefined || bytes.byteLength === 0) continue
        boundary?.add(bytes)
        sent(heardAt)
        isRead = false
        return controller.enqueue(bytes)
      }
    } catch (error) {
      if (!finish('broken')) return
      // Wait a turn: data queued in this turn is not sent yet, and would be lost after an error.
      await nextTurn()
      controller.error(error)
    }
  }

  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given
      },
      pull,
      cancel: left,
    },
    { highWaterMark: 0 },
  )
  return { stream, end: () => close('left') }
}

/**
 * Reads the whole body. Throws `upstream_timeout` if it is silent for too long, and the error of
 * `tooLarge` above `maxBytes`.
 */
export async function readWhole(
  body: ReadableStream<Uint8Array>,
  options: {
    readonly maxBytes: number
    readonly idleMs: number
    readonly upstream: AbortController
    tooLarge(): GatewayError
  },
): Promise<Uint8Array<ArrayBuffer>> {
  const { maxBytes, idleMs, upstream } = options
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  let heardAt = performance.now()
  let timer = setTimeout(look, idleMs)
  function look() {
    const rest = idleMs - (performance.now() - heardAt)
    if (rest > 0) timer = setTimeout(look, rest)
    else upstream.abort(fellSilent())
  }
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      heardAt = performance.now()
      size += value.byteLength
      if (size > maxBytes) throw options.tooLarge()
      chunks.push(value)
    }
  } catch (error) {
    throw upstreamFailure(error, upstream)
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks, size)
}

export function fellSilent(): GatewayError {
  return new GatewayError('upstream_timeout', 'the server stopped sending')
}

/** Why reading from the server failed. */
export function upstreamFailure(error: unknown, upstream: AbortController): unknown {
  if (error instanceof GatewayError) return error
  if (upstream.signal.aborted) return upstream.signal.reason
  return new GatewayError('upstream_transport', 'the connection to the server broke', {
    cause: error,
  })
}
