import type { GuardInput } from 'model-gateway/guardrail'

/**
 * Maximum steps of one verdict, for the reader and all packs of a policy. A step is at most 0.1 µs
 * on the machines that we measure on (`work.test.ts`), so a verdict takes at most 20 ms.
 */
export const STEPS = 150_000

/** Why reading stopped. */
export type Cap = 'nul' | 'too_long' | 'too_deep' | 'too_many'

/** Which limit was reached and how to fix it, for the reader of the denial. */
export const capTexts: Readonly<Record<Cap, string>> = {
  nul: 'It contains a NUL byte: send text without one.',
  too_long:
    'It is longer than 64 KiB: send several shorter texts, or write the long part to a file.',
  too_deep: 'It is nested too deeply: send the inner parts in separate steps.',
  too_many: 'It has too many parts for one verdict: send fewer at once.',
}

/** Ends a reading. `commandPack` converts it to `command.uninspectable`. */
export class OverCap extends Error {
  override readonly name = 'OverCap'
  readonly cap: Cap
  constructor(cap: Cap) {
    super(capTexts[cap])
    this.cap = cap
  }
}

/** The remaining steps of one verdict. */
interface Work {
  left: number
  /** Each pack's verdict, cached. */
  readonly verdicts: Map<object, unknown>
}

/** One variable is enough, because a verdict is synchronous. */
let current: Work | undefined

const works = new WeakMap<GuardInput, Work>()

/** Runs a part of the verdict on an input: all parts share one limit, in each pack. */
export function working<T>(input: GuardInput, run: () => T): T {
  if (current !== undefined) return run()
  const work = works.getOrInsertComputed(input, newWork)
  return runWith(work, run)
}

/** A pack's verdict on an input; `judge` runs once. */
export function verdictOf<T>(input: GuardInput, pack: object, judge: () => T): T {
  const work = works.getOrInsertComputed(input, newWork)
  if (work.verdicts.has(pack)) return work.verdicts.get(pack) as T
  const verdict = current === undefined ? runWith(work, judge) : judge()
  work.verdicts.set(pack, verdict)
  return verdict
}

/**
 * Like `working`, for text that is not a pack's input, such as a text that an admin wants
 * explained.
 */
export function workingAlone<T>(run: () => T): T {
  return current === undefined ? runWith(newWork(), run) : run()
}

function runWith<T>(work: Work, run: () => T): T {
  current = work
  try {
    return run()
  } finally {
    current = undefined
  }
}

/**
 * Pays for steps. Call it in each loop and recursion over text that a caller or a model wrote,
 * before the work, in proportion to the work. Throws OverCap above the limit.
 */
export function spend(steps: number): void {
  if (current === undefined) return
  current.left -= steps
  if (!(current.left >= 0)) throw new OverCap('too_many')
}

/** The steps of the verdict on an input so far. */
export function stepsOf(input: GuardInput): number {
  return STEPS - (works.get(input)?.left ?? STEPS)
}

function newWork(): Work {
  return { left: STEPS, verdicts: new Map() }
}
