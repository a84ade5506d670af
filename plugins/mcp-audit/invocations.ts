import type {
  JsonValue,
  McpAudit,
  McpInvocationHandle,
  McpInvocationResult,
  McpInvocationStatus,
  McpPolicyResult,
  McpVerdict,
} from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { describe } from '../_shared/tally.ts'
import type { PayloadPolicy } from './policy.ts'
import type { RowId, WrittenRow } from './rows.ts'
import { closeRow, leaveRow, openRow, payloadOf, readRowId } from './rows.ts'
import { sessionHash } from './sessions/sessions.ts'
import { sessionKey } from './sessions/store.ts'
import type { Store } from './store.ts'
import type { WriteAhead } from './write-ahead.ts'

/** How long another replica may take to write down a call, in milliseconds. */
const ON_ITS_WAY_MS = 500
/** Look-ups at once for one server, which may answer any number of calls that nobody has made. */
const MOST_LOOK_UPS = 100
/** Calls that are known here while their answer may come elsewhere; older ones only the database knows. */
const MOST_LEFT = 50_000

export interface InvocationOptions {
  readonly store: Store
  /** How long a row is thought to be worked on without a sign of it, in milliseconds. */
  readonly leaseMs: number
  /** How long a result may come on another connection. */
  readonly resumeMs: number
  readonly ahead: Pick<WriteAhead, 'add' | 'release'>
  push(row: WrittenRow): void
  policy(): PayloadPolicy
  /** Throws `store_unavailable` when the work cannot be done in time. */
  inTime<T>(work: () => Promise<T>): Promise<T>
  /** Told of every row that is closed; no latency: nobody knows it. */
  finished(
    serverId: string,
    status: McpInvocationStatus,
    policyResult: McpPolicyResult,
    latencyMs?: number,
  ): void
  /** Told of an answer whose row is not looked for. */
  lost(): void
  now(): Date
  readonly log: Logger
}

export interface Invocations extends Pick<McpAudit, 'open' | 'reopen'> {
  /** No answer comes in the session of this key any more, but where it was asked for. */
  end(session: string): void
  /** Tells the database which rows are being worked on. */
  hold(): Promise<void>
  /** Closes rows that nobody works on any more, here or on any replica. */
  sweep(): Promise<void>
}

interface Facts {
  readonly id: string
  readonly serverId: string
  readonly openedAt: Date
  /** In which session, and under which id. */
  readonly key: string | undefined
  readonly policy: PayloadPolicy
  /** What is known of it already. */
  readonly verdict: McpVerdict | undefined
}

interface OpenRow extends McpInvocationHandle {
  /** The answer comes where it was asked for, or not at all. */
  sessionEnded(): void
}

/** Open rows, and how they are closed. */
export function createInvocations(options: InvocationOptions): Invocations {
  const { store, ahead, leaseMs, resumeMs, push, now, inTime, log } = options
  const open = new Map<string, McpInvocationHandle>()
  /** By session and id, those included whose answer may come on another connection. */
  const byKey = new Map<string, OpenRow>()
  /** Until when those are waited for, in milliseconds since the epoch. */
  const left = new Map<string, number>()
  /** Look-ups under way, by server. */
  const lookUps = new Map<string, number>()
  let diskFails = false

  /** Resolves when the row will outlive this process. */
  async function begin(row: WrittenRow): Promise<void> {
    try {
      const file = await ahead.add(row.json)
      diskFails = false
      push({ ...row, settled: () => ahead.release(file) })
    } catch (error) {
      if (!diskFails) {
        log.warn(describe(error), 'the disk takes no tool calls: each waits for the database')
      }
      diskFails = true
      await inTime(() => new Promise<void>((resolve) => push({ ...row, settled: resolve })))
    }
  }

  function createHandle(facts: Facts): OpenRow {
    const { id, serverId, openedAt, key, policy } = facts
    let { verdict } = facts
    let closed: McpInvocationResult | undefined
    let sessionIsOver = false
    const payload = (result: JsonValue | undefined) =>
      joined(
        payloadOf('arguments', verdict?.arguments, policy),
        payloadOf('result', result, policy),
      )
    function writeClosed(result: McpInvocationResult) {
      try {
        push({ json: closeRow(id, result, verdict, now()), payload: payload(result.result) })
      } catch (error) {
        log.error(describe(error), 'a tool call could not be closed')
      }
    }
    function closeUnanswered() {
      const latencyMs = Math.max(0, now().getTime() - openedAt.getTime())
      handle.close({ status: 'incomplete', latencyMs, responseBytes: 0 })
    }
    const handle: OpenRow = {
      openedAt,
      judged(more) {
        verdict = { ...verdict, ...more }
        // The call was given up while a guard looked at it.
        if (closed !== undefined) writeClosed(closed)
      },
      sessionEnded() {
        sessionIsOver = true
        if (!open.has(id)) closeUnanswered()
      },
      leave() {
        if (!open.has(id)) return
        if (sessionIsOver) return closeUnanswered()
        open.delete(id)
        const heldUntil = new Date(now().getTime() + resumeMs)
        if (key !== undefined) keepLeft(key, heldUntil.getTime())
        push({ json: leaveRow(id, verdict, heldUntil), payload: payload(undefined) })
        // They go with this row, and may be megabytes.
        if (verdict !== undefined) {
          const { arguments: _, ...rest } = verdict
          verdict = rest
        }
      },
      close(result) {
        if (closed !== undefined) return
        closed = result
        open.delete(id)
        if (key !== undefined && byKey.get(key) === handle) {
          byKey.delete(key)
          left.delete(key)
        }
        writeClosed(result)
        const policyResult = verdict?.policyResult ?? 'not_evaluated'
        options.finished(serverId, result.status, policyResult, result.latencyMs)
      },
    }
    return handle
  }

  function keepLeft(key: string, until: number): void {
    left.delete(key)
    left.set(key, until)
    if (left.size > MOST_LEFT) forget(left.keys().next().value as string)
  }

  function forget(key: string): void {
    left.delete(key)
    byKey.delete(key)
  }

  async function lookUp(serverId: string, hash: string, rowId: RowId) {
    const others = lookUps.get(serverId) ?? 0
    if (others >= MOST_LOOK_UPS) {
      options.lost()
      return undefined
    }
    lookUps.set(serverId, others + 1)
    try {
      const find = () => inTime(() => store.find({ serverId, hash }, rowId))
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
      await begin({
        json: openRow(invocation, openedAt, rowId, hash),
        payload: invocation.awaitsVerdict
          ? undefined
          : payloadOf('arguments', invocation.arguments, policy),
      })
      const key =
        hash === undefined || rowId === undefined ? undefined : keyOf(serverId, hash, rowId)
      const handle = createHandle({ id, serverId, openedAt, key, policy, verdict: undefined })
      open.set(id, handle)
      if (key !== undefined) byKey.set(key, handle)
      return handle
    },
    async reopen({ serverId, sessionId }, jsonRpcId) {
      const hash = sessionHash(sessionId)
      const rowId = readRowId(jsonRpcId)
      const here = byKey.get(keyOf(serverId, hash, rowId))
      if (here !== undefined) return here
      const found = await lookUp(serverId, hash, rowId)
      if (found === undefined) return undefined
      return createHandle({
        id: found.id,
        serverId,
        openedAt: found.occurredAt,
        key: undefined,
        // Whether the caller wants payloads kept is known where the row was made.
        policy: { ...options.policy(), captures: false },
        verdict: found.verdict,
      })
    },
    end(session) {
      for (const [key, handle] of byKey) {
        if (key.startsWith(`${session} `)) handle.sessionEnded()
      }
    },
    async hold() {
      for (const [key, until] of left) {
        if (until > now().getTime()) break
        forget(key)
      }
      if (open.size > 0) await store.hold([...open.keys()], leaseMs)
    },
    async sweep() {
      const given = await store.sweep()
      for (const { serverId } of given) {
        options.finished(serverId, 'incomplete', 'not_evaluated')
      }
      if (given.length > 0) log.warn({ rows: given.length }, 'tool calls were left incomplete')
    },
  }
}

/** Two sides of a payload as one. */
function joined(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || other === undefined ? (one ?? other) : `${one},${other}`
}

/** The time inside a UUIDv7: its first 48 bits, with a dash behind the first 32. */
function timeOf(id: string): Date {
  return new Date(
    Number.parseInt(id.slice(0, 8), 16) * 65_536 + Number.parseInt(id.slice(9, 13), 16),
  )
}

function keyOf(serverId: string, hash: string, { type, key }: RowId): string {
  return `${sessionKey(serverId, hash)} ${type} ${key}`
}
