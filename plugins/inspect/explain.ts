import { type Chains, linkName } from '../../kernel/lifecycle/chain.ts'
import { internalError } from '../../kernel/lifecycle/error-body.ts'
import type { Runtime } from '../../kernel/lifecycle/exchange.ts'
import { messagesOver } from '../../kernel/lifecycle/messages-over.ts'
import {
  type Accounting,
  type Family,
  GatewayError,
  guardPhases,
  type Identity,
  type JsonValue,
  type Principal,
  type Spender,
  type Surface,
  seams,
} from '../../kernel/plugin/index.ts'
import { accessFault } from '../../kernel/routing/access.ts'
import { candidatesOf, explainRoutes, type RouteFate } from '../../kernel/routing/explain.ts'
import { type RouteRequest, resolveRoute } from '../../kernel/routing/resolve.ts'
import { readMessages } from '../../kernel/wire/messages-request.ts'
import { readRequest } from '../../kernel/wire/request.ts'

export interface Question {
  /** A raw key, the id of one, or its public id. */
  readonly key: string
  readonly surface: Surface
  /** Absent: the one that the body names. */
  readonly model: string | undefined
  /** Absent: any body that needs nothing but the surface. */
  readonly body: JsonValue | undefined
}

export interface Explained {
  readonly caller: { readonly key_id: string; readonly owner: string; readonly scope: string }
  readonly request: {
    readonly surface: Surface
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
  readonly policy: { readonly scope: string; readonly phases: readonly string[] } | null
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

export interface ExplainParts {
  readonly identity: Identity
  readonly accounting: Accounting | undefined
  readonly runtime: Runtime
  readonly chains: Chains
  readonly now: Date
}

/**
 * What would become of a request, in the order in which the gateway looks at it, without calling
 * anything. Throws GatewayError for a key that may not be used and a body that cannot be read.
 */
export async function explain(question: Question, parts: ExplainParts): Promise<Explained> {
  const { accounting, runtime, chains } = parts
  const principal = await callerOf(question.key, parts.identity)
  const { selector, needed, refusal } = readQuestion(question)
  const { catalog } = runtime
  const models = candidatesOf(catalog, selector).map((model) => {
    const execution = catalog.models.get(model.executionModel) ?? model
    return {
      id: model.id,
      execution_model: execution.id,
      refused: accessFault(principal, model) ?? null,
      routes: explainRoutes(execution, needed, refusal).map((fate) =>
        viewOf(fate, (upstreamModel) =>
          budgetsOf(
            accounting,
            { principal, resolvedModel: execution.id, upstreamModel },
            parts.now,
          ),
        ),
      ),
    }
  })
  return {
    caller: {
      key_id: principal.apiKeyId,
      owner: nameOf(principal),
      scope: principal.ownershipScopeKey,
    },
    request: { surface: question.surface, model: selector, needs: needed },
    outcome: outcomeOf(() => {
      accounting?.checkOwner(principal)
      const { route } = resolveRoute(catalog, { selector, principal, needed, refusal }, () => 0)
      const [spent] = models
        .flatMap(({ routes }) => routes)
        .filter(({ id }) => id === route.spec.id)
        .flatMap(({ budgets }) => budgets.filter(({ exhausted }) => exhausted))
      if (spent === undefined) return
      const message = `the ${spent.cadence} budget of ${spent.amount_usd} USD is used up until ${spent.window_end}`
      throw new GatewayError('budget_exceeded', message)
    }),
    models,
    middlewares: Object.fromEntries(
      seams.map((seam) => [seam, chains[seam][question.surface].map(linkName)]),
    ),
  }
}

async function callerOf(key: string, identity: Identity): Promise<Principal> {
  if (key.includes('.')) return await identity.authenticate(key)
  const principal = identity.lookUp?.(key)
  if (principal !== undefined) return principal
  throw new GatewayError(
    'api_key_not_found',
    'There is no such API key; --key takes a whole key, gwk_ with its public id, or the id of one.',
  )
}

/** What the request asks of routes. */
type Asked = Pick<RouteRequest, 'selector' | 'needed' | 'refusal'>

function readQuestion({ surface, model, body }: Question): Asked {
  const family: Family = surface === 'messages' ? 'chat_completions' : surface
  if (body === undefined) {
    if (model === undefined)
      throw new GatewayError('invalid_request', 'there is no model to ask for')
    return { selector: model, needed: [family] }
  }
  const whole =
    model !== undefined && typeof body === 'object' && body !== null && !Array.isArray(body)
      ? { ...body, model }
      : body
  if (surface !== 'messages') {
    const read = readRequest(family, whole)
    return { selector: read.model, needed: read.requirements }
  }
  const read = readMessages(whole, null)
  return {
    selector: read.model,
    needed: read.requirements,
    refusal: messagesOver(read).refusal,
  }
}

function outcomeOf(run: () => void): Explained['outcome'] {
  try {
    run()
    return { served: true, error: null }
  } catch (thrown) {
    const error = thrown instanceof GatewayError ? thrown : internalError(thrown)
    const { code, status, message } = error
    return { served: false, error: { code, status, message } }
  }
}

function viewOf(
  { route: { spec, guard }, dropped, share }: RouteFate,
  budgets: (upstreamModel: string) => readonly ExplainedBudget[],
): ExplainedRoute {
  return {
    id: spec.id,
    provider: spec.provider,
    upstream_model: spec.upstreamModel,
    priority: spec.priority,
    weight: spec.weight,
    dropped: dropped ?? null,
    share,
    budgets: dropped === undefined ? budgets(spec.upstreamModel) : [],
    policy:
      guard === undefined
        ? null
        : { scope: guard.scope, phases: guardPhases.filter((phase) => guard.covers(phase)) },
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

function nameOf({ owner }: Principal): string {
  const team = owner.team === undefined ? '' : `, team ${owner.team.key}`
  return owner.kind === 'user'
    ? `user ${owner.email}${team}`
    : `service account ${owner.key}${team}`
}
