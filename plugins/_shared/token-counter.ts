import { inTime } from 'model-gateway/plugin'
import type { Logger } from 'pino'

/** Bytes per token: English prose has 4.5, most other texts less, so this rather underestimates. */
const BYTES_PER_TOKEN = 5
/** Maximum UTF-16 units of a call's texts for the tokenizer; the rest is estimated. */
const MOST_EXACT = 262_144
/** Maximum calls that wait for the tokenizer; others are estimated. */
const MOST_WAITING = 64
const LONGEST_WAIT_MS = 5_000
/** The tokenizer takes 75 MB, and a fraction of a second to load. */
const KEPT_IDLE_MS = 30_000

const program = new URL('./token-worker.ts', import.meta.url)

/** A lower bound of the tokens in this many bytes, for when counting would take too long. */
export function fewestTokens(bytes: number): number {
  return Math.floor(bytes / BYTES_PER_TOKEN)
}

export interface TokenCounter {
  /** Tokens of these texts, plus this many bytes of other text. Never rejects. */
  count(texts: readonly string[], moreBytes: number): Promise<number>
  close(): void
}

/**
 * Counts tokens in a thread that is started and stopped on demand, because the tokenizer is large
 * and slow to load. The encoding is o200k of OpenAI's models.
 */
export function createTokenCounter({ log }: { readonly log: Logger }): TokenCounter {
  let thread: Worker | undefined
  let idle: ReturnType<typeof setTimeout> | undefined
  /** In the order of the answers. */
  const waiting: PromiseWithResolvers<number>[] = []

  function start(): Worker {
    const started = new Worker(program, { smol: true })
    started.onmessage = ({ data }: MessageEvent<number>) => {
      if (started !== thread) return
      waiting.shift()?.resolve(data)
      if (waiting.length === 0) idle = setTimeout(stop, KEPT_IDLE_MS)
    }
    started.onerror = (event) => {
      event.preventDefault()
      if (started === thread) fail(new Error(`the tokenizer failed: ${event.message}`))
    }
    return started
  }

  function stop(): void {
    clearTimeout(idle)
    thread?.terminate()
    thread = undefined
  }

  function fail(error: Error): void {
    stop()
    for (const { reject } of waiting.splice(0)) reject(error)
  }

  async function countExactly(texts: readonly string[]): Promise<number> {
    clearTimeout(idle)
    thread ??= start()
    const answer = Promise.withResolvers<number>()
    waiting.push(answer)
    thread.postMessage(texts)
    const counted = await inTime(answer.promise, LONGEST_WAIT_MS)
    if (counted !== undefined) return counted.value
    throw new Error(`the tokenizer did not answer within ${LONGEST_WAIT_MS} ms`)
  }

  return {
    async count(texts, moreBytes) {
      const { exact, rest } = split(texts)
      const divided = fewestTokens(rest + moreBytes)
      if (exact.length === 0) return divided
      const all = () => fewestTokens(bytesOf(exact) + rest + moreBytes)
      if (waiting.length >= MOST_WAITING) return all()
      try {
        return (await countExactly(exact)) + divided
      } catch (err) {
        log.warn({ err }, 'tokens are estimated from the text length')
        return all()
      }
    },
    close: () => fail(new Error('the gateway is shutting down')),
  }
}

/** The texts that are counted exactly, and the bytes of the rest. */
function split(texts: readonly string[]) {
  const exact: string[] = []
  let room = MOST_EXACT
  let rest = 0
  for (const text of texts) {
    if (text !== '' && room > 0) exact.push(text.slice(0, room))
    if (text.length > room) rest += Buffer.byteLength(text.slice(room))
    room = Math.max(0, room - text.length)
  }
  return { exact, rest }
}

/** Of all texts, in UTF-8. */
export function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
