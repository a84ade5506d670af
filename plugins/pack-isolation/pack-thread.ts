import { type GuardInput, PackFailure } from 'model-gateway/guardrail'
import { inTime } from 'model-gateway/plugin'
import type { FromThread, PackFacts, ToThread } from './pack-messages.ts'

export interface ThreadLimits {
  /** For one verdict. */
  readonly callMs: number
  /** Deadline to load the plugin, set it up and prepare its packs. */
  readonly startMs: number
  /** Maximum wait of a call for its turn. */
  readonly waitMs: number
  /**
   * Maximum growth of the process during one call, and of the thread's heap since its packs were
   * ready.
   */
  readonly memoryBytes: number
}

export const usualLimits: ThreadLimits = {
  callMs: 500,
  startMs: 10_000,
  waitMs: 5_000,
  memoryBytes: 256 << 20,
}

/** Why a thread was ended. */
export type ThreadEnd = 'overrun' | 'memory' | 'crash'

export interface ThreadParts {
  readonly worker: URL | string
  readonly start: Omit<Extract<ToThread, { kind: 'start' }>, 'kind' | 'prepared'>
  readonly limits: ThreadLimits
  /** One log line of the plugin, as JSON. */
  log(line: string): void
  /** The thread was stopped, and a new one is starting. */
  ended(why: ThreadEnd, message: string): void
}

export interface PackThread {
  /** Starts the thread. Rejects with the reason if the plugin does not start. */
  open(): Promise<readonly PackFacts[]>
  /** Rejects with PackFailure. */
  prepare(pack: string): Promise<void>
  /** Rejects with PackFailure. */
  ask(kind: 'evaluate' | 'explain', pack: string, input: GuardInput): Promise<unknown>
  close(): void
}

/** Delay and interval of the memory checks of a call. */
const LOOK_MS = 10
/** Wait after a failed start. */
const REST_MS = 1_000

interface Current {
  readonly kind: ToThread['kind']
  answer(answer: Answer): void
  ended(failure: PackFailure): void
}
type Answer = Extract<FromThread, { kind: 'done' | 'threw' }>

/**
 * One thread that handles one call at a time, so that it is known which call exceeded its time or
 * memory. The thread is stopped with that call; waiting calls continue in a new one.
 */
export function createPackThread({ worker, start, limits, log, ended }: ThreadParts): PackThread {
  let thread: Worker | undefined
  /** Heap size of the thread when its packs were ready. */
  let readyBytes = 0
  /** Resolves when the current thread is ready; rejects if it could not start. */
  let opening: Promise<readonly PackFacts[]> | undefined
  let failedAt = Number.NEGATIVE_INFINITY
  let closed = false
  /** The call that the thread is at. */
  let current: Current | undefined
  /** The failure of the call that the last crash interrupted. */
  let crashed: PackFailure | undefined
  /** Resolves when the last waiting call is done. */
  let turn: Promise<unknown> = Promise.resolve()
  const prepared = new Set<string>()

  function spawn(): Promise<readonly PackFacts[]> {
    const own = new Worker(worker, { smol: true })
    thread = own
    readyBytes = 0
    own.onmessage = ({ data }: MessageEvent<FromThread>) => {
      if (data.kind === 'log') log(data.line)
      else if (own === thread) current?.answer(data)
    }
    // Do not log the message, which may quote the input.
    own.onerror = (event) => event.preventDefault()
    own.addEventListener('close', () => {
      if (own === thread) end('crash', 'its thread crashed')
    })
    opening = send({ kind: 'start', ...start, prepared: [...prepared] }, limits.startMs).then(
      (facts) => facts as readonly PackFacts[],
    )
    opening.catch(() => {
      failedAt = performance.now()
      if (own === thread) drop()
    })
    return opening
  }

  /** Terminates the thread without reporting it. */
  function drop() {
    const own = thread
    thread = undefined
    opening = undefined
    own?.terminate()
  }

  function end(why: ThreadEnd, message: string) {
    drop()
    const interrupted = current
    const failure = new PackFailure(message)
    if (why === 'crash') crashed = failure
    interrupted?.ended(failure)
    // A thread that ends while starting would do so again, so do not restart it; the starter gets
    // the failure.
    if (closed || interrupted?.kind === 'start') return
    ended(why, message)
    spawn().catch((error: Error) =>
      ended('crash', `a new thread could not be started: ${error.message}`),
    )
  }

  /** Measures the process, because the runtime has no memory limit per thread. */
  function watchMemory() {
    // Delayed, because measuring costs more than most calls take.
    let before: number | undefined
    return () => {
      const now = process.memoryUsage.rss()
      before ??= now
      if (now - before <= limits.memoryBytes) return
      end('memory', `it used more than ${limits.memoryBytes >> 20} MiB for one call`)
    }
  }

  /** Sends a message; resolves to the thread's answer. */
  function send(message: ToThread, ms: number): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const overrun = () => end('overrun', `it did not answer within ${ms} ms`)
    const timer = setTimeout(overrun, ms)
    const look = message.kind === 'start' ? undefined : setInterval(watchMemory(), LOOK_MS)
    const done = () => {
      clearTimeout(timer)
      clearInterval(look)
      current = undefined
    }
    current = {
      kind: message.kind,
      answer(answer) {
        done()
        if (answer.kind === 'done') resolve(answer.result)
        else reject(new PackFailure(`it threw ${answer.error}`))
        if (message.kind === 'start' || message.kind === 'prepare') {
          readyBytes = Math.max(readyBytes, answer.heapBytes)
        } else if (answer.heapBytes - readyBytes > limits.memoryBytes) {
          end('memory', `it uses ${limits.memoryBytes >> 20} MiB more than at its start`)
        }
      },
      ended(failure) {
        done()
        reject(failure)
      },
    }
    thread?.postMessage(message)
    return promise
  }

  async function ready(): Promise<void> {
    if (closed) throw new PackFailure('the gateway is shutting down')
    if (opening === undefined && performance.now() - failedAt < REST_MS) {
      throw new PackFailure('its thread could not be started')
    }
    let awaited: Promise<unknown> | undefined
    // The thread may crash during the wait, and a new one may be starting.
    while (awaited === undefined || awaited !== opening) {
      awaited = opening ?? spawn()
      try {
        await awaited
      } catch {
        throw new PackFailure('its thread could not be started')
      }
    }
  }

  async function call(message: ToThread, ms: number): Promise<unknown> {
    const before = turn
    const { promise: done, resolve: finish } = Promise.withResolvers<void>()
    turn = before.then(() => done)
    try {
      if ((await inTime(before, limits.waitMs)) === undefined) {
        throw new PackFailure(`it waited more than ${limits.waitMs} ms for its thread`)
      }
      await ready()
      try {
        return await send(message, ms)
      } catch (error) {
        if (closed || crashed !== error) throw error
        // Retry once, because an earlier call may have caused the crash.
        await ready()
        return await send(message, ms)
      }
    } finally {
      finish()
    }
  }

  return {
    open: spawn,
    async prepare(pack) {
      await call({ kind: 'prepare', pack }, limits.startMs)
      prepared.add(pack)
    },
    ask: (kind, pack, input) => call({ kind, pack, input }, limits.callMs),
    close() {
      closed = true
      const waiting = current
      drop()
      waiting?.ended(new PackFailure('the gateway is shutting down'))
    },
  }
}
