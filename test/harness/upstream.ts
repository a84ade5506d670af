import { type JournalCall, journalEntry, perform, type Reply } from './upstream-exchange.ts'
import { believable } from './upstream-replies.ts'
import { serveWire } from './upstream-wire.ts'

export type { CallOutcome, Exchange, JournalCall, Reply } from './upstream-exchange.ts'
export * from './upstream-families.ts'
export * from './upstream-replies.ts'

export interface Upstream {
  /** `http://127.0.0.1:port/v1` */
  readonly url: string
  /** Every request, in order of arrival. */
  readonly journal: { readonly calls: readonly JournalCall[] }
  /** Replies for the next requests, one each, before the standing one. */
  script(...replies: readonly Reply[]): void
  /** The reply for every other request. At the start: `believable()`. */
  always(reply: Reply): void
  /** Resolves with the call of this number, from 0, as soon as it has arrived. */
  received(index: number): Promise<JournalCall>
  /** Forgets journal and script. */
  clear(): void
  stop(): Promise<void>
}

/**
 * An OpenAI-compatible upstream on a loopback port that does what its script says and keeps a
 * journal of what it was really sent: the truth that a test compares the gateway's story with.
 */
export async function startUpstream(): Promise<Upstream> {
  let calls: JournalCall[] = []
  let script: Reply[] = []
  let standing = believable()
  let waiting: { index: number; resolve: (call: JournalCall) => void }[] = []

  const server = await serveWire((request, wire) => {
    const { call, finish } = journalEntry(request)
    calls.push(call)
    waiting = waiting.filter(({ index, resolve }) => {
      const arrived = calls[index]
      if (arrived !== undefined) resolve(arrived)
      return arrived === undefined
    })
    return perform(script.shift() ?? standing, call, wire, finish)
  })

  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    journal: {
      get calls() {
        return calls
      },
    },
    script(...replies) {
      script.push(...replies)
    },
    always(reply) {
      standing = reply
    },
    received(index) {
      const call = calls[index]
      if (call !== undefined) return Promise.resolve(call)
      return new Promise((resolve) => waiting.push({ index, resolve }))
    },
    clear() {
      calls = []
      script = []
      standing = believable()
    },
    stop: server.stop,
  }
}
