import type { GuardInput } from 'model-gateway/guardrail'

/**
 * Steps that one verdict may take, the reading and all packs of a policy together. A step is at most a tenth of
 * a microsecond on the machines that we measure on (`work.test.ts`), so that no verdict takes more than 20 ms.
 */
export const STEPS = 150_000

/** Why a text is not read any further. */
export type Cap = 'nul' | 'too_long' | 'too_deep' | 'too_many'

/** Which cap was met and what to do, for the person who reads the denial. */
export const capTexts: Readonly<Record<Cap, string>> = {
  nul: 'It contains a NUL byte: send text without one.',
  too_long:
    'It is longer than 64 KiB: send several shorter texts, or write the long part to a file.',
  too_deep: 'It is nested too deeply: send the inner parts in separate steps.',
  too_many: 'It has too many parts for one verdict: send fewer at once.',
}

/** The signal that ends a reading. `commandPack` makes `command.uninspectable` of it. */
export class OverCap extends Error {
  override readonly name = 'OverCap'
  readonly cap: Cap
  constructor(cap: Cap) {
    super(capTexts[cap])
    this.cap = cap
  }
}

/** What is left of the steps of one verdict. */
interface Work {
  left: number
  /** What each pack found, so that asking again costs nothing. */
  readonly verdicts: Map<object, unknown>
}

/** A verdict is synchronous, so that one variable is enough and nothing has to be passed along. */
let current: Work | undefined

const works = new WeakMap<GuardInput, Work>()

/** Runs a part of the verdict on an input: all parts, in whichever pack, spend from one account. */
export function working<T>(input: GuardInput, run: () => T): T {
  if (current !== undefined) return run()
  const work = works.getOrInsertComputed(input, newWork)
  return runWith(work, run)
}

/** The verdict of a pack on an input; it is judged once, by `judge`. */
export function verdictOf<T>(input: GuardInput, pack: object, judge: () => T): T {
  const work = works.getOrInsertComputed(input, newWork)
  if (work.verdicts.has(pack)) return work.verdicts.get(pack) as T
  const verdict = current === undefined ? runWith(work, judge) : judge()
  work.verdicts.set(pack, verdict)
  return verdict
}

/** As `working` for what is not an input of a pack, such as a text that an admin wants explained. */
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
 * Pays for steps. To be called in each loop and recursion over text that a caller or a model wrote, before
 * the work is done, with a number that grows as the work does. Throws OverCap when nothing is left.
 */
export function spend(steps: number): void {
  if (current === undefined) return
  current.left -= steps
  if (!(current.left >= 0)) throw new OverCap('too_many')
}

/** Steps that a verdict on an input has taken so far. */
export function stepsOf(input: GuardInput): number {
  return STEPS - (works.get(input)?.left ?? STEPS)
}

function newWork(): Work {
  return { left: STEPS, verdicts: new Map() }
}
