import type { GuardPhase } from 'model-gateway/guardrail'
import { inTime } from 'model-gateway/plugin'
import {
  CheckFailure,
  type CheckFailureReason,
  type CheckVerdict,
  type ManagedCheck,
} from './contract.ts'
import type { Disposition } from './decision.ts'

/** A configured check, ready to be asked. */
export interface RunningCheck {
  readonly name: string
  /** The neutral name of its kind. */
  readonly kind: string
  readonly phases: readonly GuardPhase[]
  readonly timeoutMs: number
  readonly disposition: Disposition
  readonly maxContentBytes: number
  readonly check: ManagedCheck
  /** Limits how many texts are judged at the same time. */
  readonly turns: Turns
}

export type CheckOutcome =
  | { readonly kind: 'allow' }
  /** All texts, some of them other than before. */
  | { readonly kind: 'transformed'; readonly texts: readonly string[] }
  | { readonly kind: 'deny'; readonly reasonCode: string }
  | { readonly kind: 'failure'; readonly reason: CheckFailureReason; readonly error?: Error }

/** Judges all texts within the limits of the check. One denial denies all. Never rejects. */
export async function runCheck(
  { check, turns, timeoutMs, maxContentBytes }: Omit<RunningCheck, 'disposition'>,
  phase: GuardPhase,
  texts: readonly string[],
): Promise<CheckOutcome> {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > maxContentBytes) return { kind: 'failure', reason: 'managed.content_too_large' }
  const stop = new AbortController()
  const { signal } = stop
  const timer = setTimeout(() => stop.abort(), timeoutMs)
  const take = turns.until(signal)
  const judge = async (text: string): Promise<CheckOutcome> => {
    // Skip blank texts, which services reject.
    if (text.trim() === '') return { kind: 'allow' }
    try {
      const verdict = await take(() => check.evaluate({ phase, text, signal }))
      const outcome = outcomeOf(verdict, text)
      // Nothing that the others say can change it.
      if (outcome.kind === 'deny') stop.abort()
      return outcome
    } catch (error) {
      return failureOf(error)
    }
  }
  try {
    return combine(await Promise.all(texts.map(judge)), texts)
  } finally {
    clearTimeout(timer)
  }
}

function combine(outcomes: readonly CheckOutcome[], texts: readonly string[]): CheckOutcome {
  const decisive =
    outcomes.find(({ kind }) => kind === 'deny') ?? outcomes.find(({ kind }) => kind === 'failure')
  if (decisive !== undefined) return decisive
  if (outcomes.every(({ kind }) => kind === 'allow')) return { kind: 'allow' }
  return {
    kind: 'transformed',
    texts: outcomes.map((outcome, index) =>
      outcome.kind === 'transformed' ? (outcome.texts[0] as string) : (texts[index] as string),
    ),
  }
}

/** Checks come from plugins, so that the result may be any value. */
function outcomeOf(verdict: CheckVerdict, text: string): CheckOutcome {
  const { action, text: other, reasonCode } = (verdict ?? {}) as Partial<Record<string, unknown>>
  if (action === 'allow') return { kind: 'allow' }
  if (action === 'deny') return { kind: 'deny', reasonCode: reasonOf(reasonCode) }
  if (action === 'transformed' && typeof other === 'string') {
    return other === text ? { kind: 'allow' } : { kind: 'transformed', texts: [other] }
  }
  return malformed
}

const malformed: CheckOutcome = {
  kind: 'failure',
  reason: 'managed.malformed_response',
  error: new Error('the check did not return a verdict'),
}

/**
 * The reason is sent to callers and stored, so only accept codes: a sentence may quote the content.
 */
function reasonOf(reason: unknown): string {
  return typeof reason === 'string' && /^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(reason)
    ? reason
    : 'managed.denied'
}

const failureReasons: Readonly<Record<CheckFailureReason, true>> = {
  'managed.timeout': true,
  'managed.content_too_large': true,
  'managed.unavailable': true,
  'managed.rate_limited': true,
  'managed.access_denied': true,
  'managed.malformed_response': true,
  'managed.invalid_transformation': true,
}

function failureOf(thrown: unknown): CheckOutcome {
  if (thrown instanceof CheckFailure) {
    const known = Object.hasOwn(failureReasons, thrown.reason)
    return { kind: 'failure', reason: known ? thrown.reason : 'managed.unavailable', error: thrown }
  }
  // Not its message, which may quote the content.
  const name = thrown instanceof Error ? thrown.name : typeof thrown
  const error = new Error(`the check threw ${name}`)
  return { kind: 'failure', reason: 'managed.unavailable', error }
}

/** For a check to be made, or disposed. */
export const MAKE_DEADLINE_MS = 10_000

/** Waits for all disposals, then rejects with the first error. */
export async function disposeChecks(
  checks: readonly RunningCheck[],
  ms = MAKE_DEADLINE_MS,
): Promise<void> {
  const disposals = checks.map(async ({ name, check }) => {
    const work = Promise.try(() => check.dispose?.())
    if ((await inTime(work, ms)) !== undefined) return
    throw new Error(`the check ${name} was not disposed within ${ms} ms`)
  })
  await Promise.allSettled(disposals)
  await Promise.all(disposals)
}

export interface Turns {
  /**
   * Runs work in turn. Work rejects with `managed.timeout` when the signal aborts. All work shares
   * one abort listener, because there may be any number of texts.
   */
  until(signal: AbortSignal): <T>(work: () => Promise<T>) => Promise<T>
}

/** Runs at most `most` pieces of work at once, in the order of arrival. */
export function createTurns(most: number): Turns {
  let free = most
  const waiting = new Set<() => void>()
  const pass = () => {
    const [next] = waiting
    if (next === undefined) free += 1
    else next()
  }

  async function wait(aborted: Promise<never>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const go = () => {
      waiting.delete(go)
      resolve()
    }
    waiting.add(go)
    try {
      await Promise.race([promise, aborted])
    } catch (error) {
      // If the turn came at the same moment, pass it on.
      if (!waiting.delete(go)) pass()
      throw error
    }
  }

  return {
    until(signal) {
      const { promise: aborted, reject } = Promise.withResolvers<never>()
      aborted.catch(() => {})
      const abort = () =>
        reject(new CheckFailure('managed.timeout', 'the check did not answer in time'))
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
      return async (work) => {
        if (free > 0) free -= 1
        else await wait(aborted)
        try {
          if (signal.aborted) return await aborted
          // Abandon work that does not end in time.
          return await Promise.race([aborted, work()])
        } finally {
          pass()
        }
      }
    },
  }
}
