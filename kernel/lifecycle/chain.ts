import { GatewayError, type Middleware, type Seam } from '../plugin/index.ts'
import { internalError } from './error-body.ts'

/** A middleware with its plugin. */
export interface Link {
  readonly plugin: string
  readonly middleware: Middleware
}

/** The middlewares of each seam, by surface id, outermost first. */
export type Chains = Readonly<Record<Seam, ReadonlyMap<string, readonly Link[]>>>

export interface ChainTools {
  /** Milliseconds that a middleware may spend outside of `next`. */
  readonly deadlineMs: number
  /** Called for each fault of a middleware. */
  fault(link: Link, error: Error, requestId: string): void
}

/** How many times a deadline is checked while it runs. */
const LOOKS = 5

/**
 * Runs a step inside its middlewares. Rejects with the error of the step, whatever middlewares do
 * with it; else with the refusal of a middleware, or `internal_error` for a fault of one. The
 * argument of `next` goes to the step, and `next` returns the step's result. `again`: after a
 * failure `next` may be called again, and the later outcome counts.
 */
export async function runChain<V, C = undefined>(
  links: readonly Link[],
  exchange: { readonly requestId: string },
  step: (choice: C | undefined) => Promise<V>,
  { deadlineMs, fault, again = false }: ChainTools & { readonly again?: boolean },
): Promise<void> {
  /** Who runs now: the index of a link, or the number of links for the step. */
  let at = 0
  let turns = 0
  let over = false
  /** The first failure is kept. */
  let failure: { readonly error: unknown } | undefined
  const handTo = (index: number) => {
    at = index
    turns++
  }

  async function pass(index: number, choice: C | undefined): Promise<V> {
    handTo(index)
    const link = links[index]
    if (link === undefined) return await runStep(choice)
    let inner: Promise<V> | undefined
    let failed = false
    const next = (other: C | undefined = choice) => {
      if (over) throw new Error('called next after its deadline')
      if (inner !== undefined && !(again && failed)) {
        throw new Error(again ? 'called next again before a failure' : 'called next twice')
      }
      failed = false
      failure = undefined
      inner = pass(index + 1, other)
      // Handled here, because it is awaited later, perhaps after it fails.
      inner.catch(() => {
        failed = true
      })
      return inner
    }
    let thrown: { readonly error: unknown } | undefined
    try {
      // Safe cast: each chain contains only the middlewares of one seam.
      const pending = (link.middleware.handle as Handle)(exchange, next)
      if (pending !== undefined) await pending
      if (inner === undefined) throw new Error('returned without calling next')
    } catch (error) {
      thrown = { error }
    }
    try {
      const shown = await inner
      if (thrown !== undefined) fail(link, thrown.error)
      else if (failure === undefined) return shown as V
    } catch (error) {
      failure ??= { error }
    } finally {
      handTo(index - 1)
    }
    throw failure?.error
  }

  async function runStep(choice: C | undefined): Promise<V> {
    try {
      return await step(choice)
    } catch (error) {
      failure ??= { error }
      throw error
    } finally {
      handTo(links.length - 1)
    }
  }

  function fail(link: Link, error: unknown) {
    if (over) return
    const refuses = error instanceof GatewayError && link.middleware.around !== 'respond'
    failure = { error: refuses ? error : asFault(link, error) }
  }

  function asFault(link: Link, thrown: unknown): GatewayError {
    const error = thrown instanceof Error ? thrown : new Error(`threw ${String(thrown)}`)
    fault(link, error, exchange.requestId)
    return internalError(error)
  }

  const overdue = Promise.withResolvers<never>()
  let seen = -1
  let looks = 0
  const timer = setInterval(() => {
    const link = links[at]
    looks = link === undefined || turns !== seen ? 0 : looks + 1
    seen = turns
    if (link === undefined || looks < LOOKS) return
    clearInterval(timer)
    over = true
    const error = new Error(`did not finish within ${deadlineMs} ms outside of next`)
    overdue.reject(asFault(link, error))
  }, deadlineMs / LOOKS)
  try {
    await Promise.race([pass(0, undefined), overdue.promise])
  } finally {
    clearInterval(timer)
    over = true
  }
}

type Handle = (
  exchange: unknown,
  next: (choice?: never) => Promise<unknown>,
) => void | Promise<void>
