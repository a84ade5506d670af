import { GatewayError, type Middleware, type Seam } from '../plugin/index.ts'
import { internalError } from './error-body.ts'

/** A middleware with the plugin that brings it. */
export interface Link {
  readonly plugin: string
  readonly middleware: Middleware
}

/** What stands around each step, by the ids of surfaces, the outermost first. */
export type Chains = Readonly<Record<Seam, ReadonlyMap<string, readonly Link[]>>>

export interface ChainTools {
  /** Milliseconds that one middleware may spend outside of `next`. */
  readonly deadlineMs: number
  /** Told of every fault of a middleware. */
  fault(link: Link, error: Error, requestId: string): void
}

/** How often a deadline is looked at while it lasts. */
const LOOKS = 5

/**
 * Runs a step with middlewares around it. Rejects with what the step rejects with, whatever the
 * middlewares make of it; else with what one of them refuses with, or `internal_error` for a fault
 * of one. What `next` is given goes to the step, and what that resolves to comes back. `again`: after
 * a failure `next` may be called once more, and then the later outcome stands.
 */
export async function runChain<V, C = undefined>(
  links: readonly Link[],
  exchange: { readonly requestId: string },
  step: (choice: C | undefined) => Promise<V>,
  { deadlineMs, fault, again = false }: ChainTools & { readonly again?: boolean },
): Promise<void> {
  /** Who is at work: the index of a link, or that of the step behind the last one. */
  let at = 0
  let turns = 0
  let over = false
  /** The first failure stands. */
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
      // It is awaited here in any case, perhaps later than it fails.
      inner.catch(() => {
        failed = true
      })
      return inner
    }
    let thrown: { readonly error: unknown } | undefined
    try {
      // Each seam's middleware was compiled into that seam's chain.
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
