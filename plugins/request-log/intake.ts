import type { Logger } from 'pino'
import type { Room } from '../_shared/room.ts'
import { describe, type Tally } from '../_shared/tally.ts'
import { encodePayload, type RawPayload } from './payload.ts'
import type { PayloadPolicy } from './policy.ts'
import { roughResponseSize, roughSize } from './rough-size.ts'
import type { Row } from './row.ts'

/** Maximum time per turn of the event loop for encoding payloads. */
const TURN_MS = 2

export type Draft = Omit<Row, 'payload'>

export interface Intake {
  /** Sanitises and encodes payloads later, in turns, and passes on complete rows. */
  add(draft: Draft, raw: RawPayload, policy: PayloadPolicy): void
  /** Number of rows with a waiting payload. */
  waiting(): number
  /** Encodes and passes on all waiting rows. */
  flush(): void
}

export function createIntake(options: {
  /** Memory limit, shared with the writer. */
  readonly room: Room
  push(row: Row): void
  /** Whether payloads would be dropped anyway. */
  refuses(): boolean
  readonly shed: Tally
  readonly log: Logger
}): Intake {
  const { room, push, refuses, shed, log } = options
  interface Job {
    readonly draft: Draft
    readonly steps: Generator<undefined, string>
    readonly size: number
  }
  let jobs: Job[] = []
  let scheduled = false

  function finish({ draft, size }: Job, payload: string | undefined): void {
    room.give(size)
    push({ occurredAt: draft.occurredAt, json: draft.json, payload })
  }

  /** One step of a job; false when there are more. */
  function step(job: Job): boolean {
    try {
      const { done, value } = job.steps.next()
      if (done) finish(job, value)
      return done === true
    } catch (err) {
      log.error(describe(err), 'a payload could not be encoded')
      shed.add(1, 'a payload could not be encoded')
      finish(job, undefined)
      return true
    }
  }

  /** Works until a `performance.now()` time. */
  function work(until: number): void {
    let count = 0
    for (let job = jobs[count]; job !== undefined; job = jobs[count]) {
      if (step(job)) count += 1
      if (performance.now() > until) break
    }
    // Finished jobs are removed, so that their bodies can be freed.
    jobs = jobs.slice(count)
    if (jobs.length > 0) schedule()
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      work(performance.now() + TURN_MS)
    })
  }

  return {
    add(draft, raw, policy) {
      const stated = Number(raw.headers['content-length'])
      const size = (stated > 0 ? stated : roughSize(raw.body)) + roughResponseSize(raw.response)
      if (refuses() || !room.take(size)) {
        shed.add(1, refuses() ? 'the database is away' : 'the queue is full')
        push({ occurredAt: draft.occurredAt, json: draft.json, payload: undefined })
        return
      }
      jobs.push({ draft, steps: encodePayload(raw, policy), size })
      schedule()
    },
    waiting: () => jobs.length,
    flush: () => work(Number.POSITIVE_INFINITY),
  }
}
