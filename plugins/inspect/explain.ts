import type { Accounting, Spender } from 'model-gateway/accounting'
import { accountingErrors } from 'model-gateway/accounting'
import type { GuardPhase } from 'model-gateway/guardrail'
import type { ChainedMiddleware, PlannedRoute, RequestPlan, RouteFault } from 'model-gateway/host'
import type { Identity, Principal } from 'model-gateway/identity'
import { seams } from 'model-gateway/middleware'
import { type Capabilities, GatewayError, type JsonValue } from 'model-gateway/plugin'
import type { RouteSpec } from 'model-gateway/provider'

export interface Question {
  /** A raw key, the id of one, or its public id. */
  readonly key: string
  readonly surface: string
  /** Absent: the one that the body names. */
  readonly model: string | undefined
  /** Absent: a body that needs only the surface. */
  readonly body: JsonValue | undefined
}

export interface Explained {
  readonly caller: { readonly key_id: string; readonly owner: string; readonly scope: string }
  readonly request: {
    readonly surface: string
    readonly model: string
    readonly needs: readonly string[]
  }
  readonly outcome: {
    readonly served: boolean
    readonly error: {
      readonly code: string
      readonly status: number
      readonly message: string
    } | null
  }
  readonly models: readonly {
    readonly id: string
    readonly execution_model: string
    readonly refused: string | null
    readonly routes: readonly ExplainedRoute[]
  }[]
  readonly middlewares: Readonly<Record<string, readonly string[]>>
}

export interface ExplainedRoute {
  readonly id: string
  readonly provider: string
  readonly upstream_model: string
  readonly priority: number
  readonly weight: number
  readonly dropped: string | null
  readonly share: number
  readonly budgets: readonly ExplainedBudget[]
  readonly policy: { readonly scope: string; readonly phases: readonly GuardPhase[] } | null
}

interface ExplainedBudget {
  readonly scope_key: string
  readonly cadence: string
  readonly amount_usd: string
  readonly spent_usd: string
  readonly hard_limit: boolean
  readonly exhausted: boolean
  readonly window_end: string
}

export interface ExplainParts extends Pick<Capabilities, 'inspection' | 'clock'> {
  readonly identity: () => Identity
  readonly accounting: () => Accounting | undefined
}

/**
 * Explains how the gateway would handle a request, in the order of its steps, without calling a
 * provider. Throws GatewayError for an unusable key and an invalid body.
 */
export async function explain(
  { key, ...asked }: Question,
  { inspection, clock, identity, accounting }: ExplainParts,
): Promise<Explained> {
  const ledger = accounting()
  const principal = await callerOf(key, identity())
  const plan = await inspection.plan({ principal, ...asked })
  const chains = inspection.chains()
  const now = clock.now()
  const models = plan.models.map(({ id, executionModel, refused, routes }) => ({
    id,
    execution_model: executionModel,
    refused: refused ?? null,
    routes: routes.map((route) =>
      viewOf(route, (upstreamModel) =>
        budgetsOf(ledger, { principal, resolvedModel: executionModel, upstreamModel }, now),
      ),
    ),
  }))
  return {
    caller: {
      key_id: principal.apiKeyId,
      owner: ownerOf(principal),
      scope: principal.ownershipScopeKey,
    },
    request: { surface: asked.surface, model: plan.selector, needs: plan.needed },
    outcome: outcomeOf(() => {
      ledger?.checkOwner(principal)
      requireFunds(
        requireRoute(plan),
        models.flatMap(({ routes }) => routes),
      )
    }),
    models,
    middlewares: Object.fromEntries(
      seams.map((seam) => [seam, chains[seam].get(asked.surface)?.map(nameOf) ?? []]),
    ),
  }
}

/** `id (plugin)` */
export function nameOf({ plugin, middleware }: ChainedMiddleware): string {
  return `${middleware.id} (${plugin})`
}

function requireRoute({ outcome }: RequestPlan): string {
  if ('error' in outcome) throw outcome.error
  return outcome.route
}

function requireFunds(route: string, routes: readonly ExplainedRoute[]): void {
  const [spent] = routes
    .filter(({ id }) => id === route)
    .flatMap(({ budgets }) => budgets.filter(({ exhausted }) => exhausted))
  if (spent === undefined) return
  const message = `the ${spent.cadence} budget of ${spent.amount_usd} USD is used up; it resets at ${spent.window_end}`
  throw new GatewayError(accountingErrors.budget_exceeded, message)
}

async function callerOf(key: string, identity: Identity): Promise<Principal> {
  if (key.includes('.')) return await identity.authenticate(key)
  const principal = identity.lookUp?.(key)
  if (principal !== undefined) return principal
  throw new GatewayError(
    'api_key_not_found',
    'The API key does not exist. Set --key to a whole key, to gwk_ and its public id, or to its id.',
  )
}

function outcomeOf(run: () => void): Explained['outcome'] {
  try {
    run()
    return { served: true, error: null }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const { code, status, message } = error
    return { served: false, error: { code, status, message } }
  }
}

function viewOf(
  { spec, fault, share, guard }: PlannedRoute,
  budgets: (upstreamModel: string) => readonly ExplainedBudget[],
): ExplainedRoute {
  return {
    id: spec.id,
    provider: spec.provider,
    upstream_model: spec.upstreamModel,
    priority: spec.priority,
    weight: spec.weight,
    dropped: fault === undefined ? null : wordsOf(fault, spec),
    share,
    budgets: fault === undefined ? budgets(spec.upstreamModel) : [],
    policy: guard ?? null,
  }
}

function wordsOf(fault: RouteFault, { weight, priority }: RouteSpec): string {
  switch (fault.reason) {
    case 'disabled':
      return 'it is disabled'
    case 'no_weight':
      return `its weight is ${weight}`
    case 'lacks':
      return `it does not support ${fault.flags.join(', ')}`
    case 'refuses':
      return fault.error.message
    case 'behind':
      return `routes with priority ${fault.priority} come before its priority ${priority}`
  }
}

function budgetsOf(
  accounting: Accounting | undefined,
  call: Spender,
  now: Date,
): readonly ExplainedBudget[] {
  return (accounting?.budgetsOf?.(call, now) ?? []).map((budget) => ({
    scope_key: budget.scopeKey,
    cadence: budget.cadence,
    amount_usd: budget.amountUsd,
    spent_usd: budget.spentUsd,
    hard_limit: budget.hardLimit,
    exhausted: budget.exhausted,
    window_end: budget.windowEnd,
  }))
}

function ownerOf({ owner }: Principal): string {
  const team = owner.team === undefined ? '' : `, team ${owner.team.key}`
  return owner.kind === 'user'
    ? `user ${owner.email}${team}`
    : `service account ${owner.key}${team}`
}
