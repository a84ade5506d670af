import type {
  McpInvocationHandle,
  McpInvocationResult,
  McpInvocationStatus,
  McpPolicyResult,
  McpVerdict,
} from 'model-gateway/mcp'
import type { JsonValue } from 'model-gateway/plugin'
import type { LiveSet } from 'model-gateway/wire'
import type { Logger } from 'pino'
import { describe } from '../_shared/tally.ts'
import type { PayloadPolicy } from './policy.ts'
import { closedRow, closeRow, leaveRow, payloadOf, type WrittenRow } from './rows.ts'

/** A row that only the local disk has. */
export interface OpenedRow {
  readonly json: string
  readonly arguments: JsonValue | undefined
  /** Called when the database or the spool has the row, too. */
  readonly settled: () => void
}

export interface CallFacts {
  readonly id: string
  readonly serverId: string
  readonly openedAt: Date
  /** In which session, and under which id. */
  readonly key: string | undefined
  readonly policy: PayloadPolicy
  /** The verdict so far. */
  readonly verdict: McpVerdict | undefined
}

/** Shared by all rows. */
export interface CallRows {
  /** Those whose reply is not over. */
  readonly open: LiveSet<CallRow>
  push(row: WrittenRow): void
  /** A response to the call may arrive on another connection until this time. */
  keep(key: string, until: number): void
  /** It does not any more. */
  forget(key: string, row: CallRow): void
  /**
   * Called when the database has the open row. Returns a function that is called when the row is
   * closed there, too.
   */
  closing(id: string): () => void
  /** For how long it may, in milliseconds. */
  readonly resumeMs: number
  /** Called for every closed row. */
  finished(
    serverId: string,
    status: McpInvocationStatus,
    policyResult: McpPolicyResult,
    latencyMs: number,
  ): void
  now(): Date
  readonly log: Logger
}

/** One row, from the time when it is durable. */
export class CallRow implements McpInvocationHandle {
  readonly #facts: CallFacts
  readonly #rows: CallRows
  /**
   * Dropped after it is written, because arguments may have megabytes, and a row may stay open for
   * minutes.
   */
  #opened: OpenedRow | undefined
  #verdict: McpVerdict | undefined
  /** Among those whose reply is not over. */
  #place: number | undefined
  #closed: McpInvocationResult | undefined
  #sessionIsOver = false

  /** `opened`: undefined if the database has the row already. */
  constructor(facts: CallFacts, rows: CallRows, opened?: OpenedRow) {
    this.#facts = facts
    this.#rows = rows
    this.#opened = opened
    this.#verdict = facts.verdict
  }

  get id(): string {
    return this.#facts.id
  }

  get openedAt(): Date {
    return this.#facts.openedAt
  }

  /** Its reply is not over. */
  begin(): void {
    this.#place = this.#rows.open.add(this)
  }

  judged(more: McpVerdict): void {
    const outweighs = this.#verdict?.policyResult === 'denied' && more.policyResult !== 'denied'
    this.#verdict = outweighs ? { ...more, ...this.#verdict } : { ...this.#verdict, ...more }
    // The caller cancelled the call while a guard judged it.
    if (this.#closed !== undefined) this.#writeClosed(this.#closed)
  }

  /** The response can only arrive on the connection of the request. */
  sessionEnded(): void {
    this.#sessionIsOver = true
    if (this.#place === undefined) this.#closeUnanswered()
  }

  leave(): void {
    if (this.#place === undefined) return
    if (this.#sessionIsOver) {
      this.#closeUnanswered()
      return
    }
    this.#replyIsOver()
    const { id, key } = this.#facts
    const { resumeMs, now, keep, push } = this.#rows
    const heldUntil = new Date(now().getTime() + resumeMs)
    if (key !== undefined) keep(key, heldUntil.getTime())
    this.writeOpened()
    push({
      group: id,
      json: leaveRow(id, this.#verdict, heldUntil),
      payload: this.#payload(this.#verdict?.arguments, undefined),
    })
    // Drop the arguments: they are written with this row, and may have megabytes.
    if (this.#verdict !== undefined) {
      const { arguments: _, ...rest } = this.#verdict
      this.#verdict = rest
    }
  }

  close(result: McpInvocationResult): void {
    if (this.#closed !== undefined) return
    this.#closed = result
    this.#replyIsOver()
    const { key, serverId } = this.#facts
    if (key !== undefined) this.#rows.forget(key, this)
    this.#writeClosed(result)
    const policyResult = this.#verdict?.policyResult ?? 'not_evaluated'
    this.#rows.finished(serverId, result.status, policyResult, result.latencyMs)
  }

  /** Writes the open row to the database if only the local disk has it. */
  writeOpened(): void {
    if (this.#opened === undefined) return
    const { json, arguments: args, settled } = this.#opened
    this.#opened = undefined
    let payload: string | undefined
    try {
      payload = this.#payload(args, undefined)
    } catch (error) {
      this.#rows.log.error(describe(error), 'recording the arguments of a tool call failed')
    }
    this.#rows.push({ group: this.id, json, payload, settled })
  }

  /** A row that is not in the database yet is written once, already closed. */
  #writeClosed(result: McpInvocationResult): void {
    const opened = this.#opened
    const verdict = this.#verdict
    const at = this.#rows.now()
    try {
      this.#rows.push({
        group: this.id,
        json:
          opened === undefined
            ? closeRow(this.#facts.id, result, verdict, at)
            : closedRow(opened.json, result, verdict, at),
        payload: this.#payload(verdict?.arguments ?? opened?.arguments, result.result),
        settled: opened?.settled ?? this.#rows.closing(this.#facts.id),
      })
      this.#opened = undefined
    } catch (error) {
      this.#rows.log.error(describe(error), 'recording the result of a tool call failed')
      this.writeOpened()
    }
  }

  #payload(args: JsonValue | undefined, result: JsonValue | undefined): string | undefined {
    const { policy } = this.#facts
    const one = payloadOf('arguments', args, policy)
    const other = payloadOf('result', result, policy)
    return one === undefined || other === undefined ? (one ?? other) : `${one},${other}`
  }

  #replyIsOver(): void {
    if (this.#place !== undefined) this.#rows.open.delete(this.#place)
    this.#place = undefined
  }

  #closeUnanswered(): void {
    const latencyMs = Math.max(0, this.#rows.now().getTime() - this.openedAt.getTime())
    this.close({ status: 'incomplete', latencyMs, responseBytes: 0 })
  }
}
