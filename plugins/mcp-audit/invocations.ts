import type { McpAudit, McpInvocationStatus, McpPolicyResult } from 'model-gateway/mcp'
import type { JsonValue } from 'model-gateway/plugin'
import { LiveSet } from 'model-gateway/wire'
import type { Logger } from 'pino'
import { describe } from '../_shared/tally.ts'
import type { WriteAhead } from '../_shared/write-ahead.ts'
import { CallRow, type CallRows, type OpenedRow } from './call-row.ts'
import type { PayloadPolicy } from './policy.ts'
import type { RowId, WrittenRow } from './rows.ts'
import { openRow, payloadOf, readRowId } from './rows.ts'
import { sessionHash } from './sessions/sessions.ts'
import { sessionKey } from './sessions/store.ts'
import type { Store } from './store.ts'

/** A call shorter than this is written once, when it ends. Milliseconds. */
const AT_ONCE_MS = 50
/** Maximum time in milliseconds until another replica has written a call. */
const ON_ITS_WAY_MS = 500
/** Concurrent look-ups for one server, which may send any number of responses to unknown calls. */
const MOST_LOOK_UPS = 100
const POLL_MS = 20
/**
 * Maximum number of calls in memory that wait for a response on another connection. For older ones,
 * the database is queried.
 */
const MOST_LEFT = 50_000

export interface InvocationOptions {
  readonly store: Store
  /** Lease of a row in milliseconds. */
  readonly leaseMs: number
  /** How long a result may arrive on another connection, in milliseconds. */
  readonly resumeMs: number
  readonly ahead: Pick<WriteAhead, 'add' | 'release'>
  push(row: WrittenRow): void
  policy(): PayloadPolicy
  /** Throws `store_unavailable` if the work cannot be done in time. */
  orUnavailable<T>(work: () => Promise<T>): Promise<T>
  /** Called for every closed row. Without latency if it is unknown. */
  finished(
    serverId: string,
    status: McpInvocationStatus,
    policyResult: McpPolicyResult,
    latencyMs?: number,
  ): void
  /** Called for a response whose row is not looked up, because there are too many. */
  lost(): void
  now(): Date
  readonly log: Logger
}

export interface Invocations extends Pick<McpAudit, 'open' | 'reopen'> {
  /** The session of this key has ended: no response can arrive on another connection any more. */
  end(session: string): void
  /** Extends the leases of the open rows of this process. */
  hold(): Promise<void>
  /** Closes rows of dead processes, of any replica. */
  sweep(): Promise<void>
  /** Resolves when no look-up is pending. */
  lookedUp(): Promise<void>
  /** Writes the rows that only the local disk has to the database. */
  flush(): void
}

/** Open rows, and how they are closed. */
export function createInvocations(options: InvocationOptions): Invocations {
  const { store, ahead, leaseMs, resumeMs, push, now, orUnavailable, log } = options
  const open = new LiveSet<CallRow>()
  /**
   * Open rows by session and id, including those that wait for a response on another connection. A
   * `LiveSet`, because a Map would keep ended calls in memory.
   */
  const byKey: Record<string, CallRow> = Object.create(null)
  /** Until when responses to these are awaited, in milliseconds since the epoch. */
  const left = new Map<string, number>()
  /** Ended here, but still open in the database. */
  const closing = new Set<string>()
  /** Look-ups under way, by server. */
  const lookUps = new Map<string, number>()
  let diskFails = false
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Resolves when the row is durable; undefined if it is in the database. */
  async function writeAhead(
    id: string,
    json: string,
    args: JsonValue | undefined,
    policy: PayloadPolicy,
  ): Promise<OpenedRow | undefined> {
    try {
      const file = await ahead.add(json)
      diskFails = false
      return { json, arguments: args, settled: () => ahead.release(file) }
    } catch (error) {
      if (!diskFails) {
        log.warn(
          describe(error),
          'tool calls cannot be written to disk; each waits for the database',
        )
      }
      diskFails = true
      const payload = payloadOf('arguments', args, policy)
      await orUnavailable(
        () =>
          new Promise<void>((resolve, reject) => {
            const dropped = () => reject(new Error('the queue for the database is full'))
            push({ group: id, json, payload, settled: resolve, dropped })
          }),
      )
      return undefined
    }
  }

  function flush() {
    clearTimeout(timer)
    timer = undefined
    for (const row of open) row.writeOpened()
  }

  const rows: CallRows = {
    open,
    push,
    keep(key, until) {
      left.delete(key)
      left.set(key, until)
      if (left.size > MOST_LEFT) forget(left.keys().next().value as string)
    },
    forget(key, row) {
      if (byKey[key] === row) forget(key)
    },
    resumeMs,
    closing(id) {
      closing.add(id)
      return () => void closing.delete(id)
    },
    finished: options.finished,
    now,
    log,
  }

  function forget(key: string): void {
    left.delete(key)
    delete byKey[key]
  }

  async function lookUp(serverId: string, hash: string, rowId: RowId) {
    const others = lookUps.get(serverId) ?? 0
    if (others >= MOST_LOOK_UPS) {
      options.lost()
      return undefined
    }
    lookUps.set(serverId, others + 1)
    try {
      const find = () => orUnavailable(() => store.find({ serverId, hash }, rowId))
      const found = await find()
      if (found !== undefined) return found
      await Bun.sleep(ON_ITS_WAY_MS)
      return await find()
    } finally {
      const remaining = (lookUps.get(serverId) ?? 1) - 1
      if (remaining === 0) lookUps.delete(serverId)
      else lookUps.set(serverId, remaining)
    }
  }

  return {
    async open(invocation) {
      const { invocationId: id, serverId, principal, sessionId, jsonRpcId } = invocation
      const openedAt = timeOf(id)
      const hash = sessionId === undefined ? undefined : sessionHash(sessionId)
      const rowId = jsonRpcId === undefined ? undefined : readRowId(jsonRpcId)
      const { owner } = principal
      const logged = owner.kind !== 'user' || owner.requestLoggingEnabled
      const policy = logged ? options.policy() : { ...options.policy(), captures: false }
      const json = openRow(invocation, openedAt, rowId, hash)
      const args = invocation.awaitsVerdict ? undefined : invocation.arguments
      const opened = await writeAhead(id, json, args, policy)
      const key =
        hash === undefined || rowId === undefined ? undefined : keyOf(serverId, hash, rowId)
      const facts = { id, serverId, openedAt, key, policy, verdict: undefined }
      const row = new CallRow(facts, rows, opened)
      row.begin()
      if (key !== undefined) byKey[key] = row
      if (opened !== undefined) timer ??= setTimeout(flush, AT_ONCE_MS)
      return row
    },
    async reopen({ serverId, sessionId }, jsonRpcId) {
      const hash = sessionHash(sessionId)
      const rowId = readRowId(jsonRpcId)
      const key = keyOf(serverId, hash, rowId)
      const here = byKey[key]
      if (here !== undefined) return here
      const found = await lookUp(serverId, hash, rowId)
      if (found === undefined || closing.has(found.id)) return undefined
      // A call that was made here meanwhile may have the same id; it is not the one to find.
      if (found.id === byKey[key]?.id) return undefined
      return new CallRow(
        {
          id: found.id,
          serverId,
          openedAt: found.occurredAt,
          key: undefined,
          // Only the process that opened the row knows whether the caller's payloads may be stored.
          policy: { ...options.policy(), captures: false },
          verdict: found.verdict,
        },
        rows,
      )
    },
    end(session) {
      for (const key in byKey) {
        if (key.startsWith(`${session} `)) byKey[key]?.sessionEnded()
      }
    },
    async hold() {
      for (const [key, until] of left) {
        if (until > now().getTime()) break
        forget(key)
      }
      const ids = Array.from(open, ({ id }) => id)
      if (ids.length > 0) await store.hold(ids, leaseMs)
    },
    async sweep() {
      const given = await store.sweep()
      for (const { serverId } of given) {
        options.finished(serverId, 'incomplete', 'not_evaluated')
      }
      if (given.length > 0) log.warn({ rows: given.length }, 'tool calls were left incomplete')
    },
    async lookedUp() {
      while (lookUps.size > 0) await Bun.sleep(POLL_MS)
    },
    flush,
  }
}

/** The time in a UUIDv7: its first 48 bits, with a dash after the first 32. */
function timeOf(id: string): Date {
  return new Date(
    Number.parseInt(id.slice(0, 8), 16) * 65_536 + Number.parseInt(id.slice(9, 13), 16),
  )
}

function keyOf(serverId: string, hash: string, { type, key }: RowId): string {
  return `${sessionKey(serverId, hash)} ${type} ${key}`
}
