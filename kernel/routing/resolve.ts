import { GatewayError, type Principal } from '../plugin/index.ts'
import { mayUse } from './access.ts'
import type { GatewayModel, ModelCatalog } from './catalog.ts'
import { type Plan, planRoute, type Random, type Refusal } from './plan.ts'

export interface ResolvedModel {
  /** The requested model, or the one that the tag selector chose. */
  readonly model: GatewayModel
  /** Budgets, prices and guard scopes use this one. */
  readonly executionModel: GatewayModel
}

export interface ResolvedRoute extends ResolvedModel, Plan {}

export interface RouteRequest {
  /** A model id or alias, or `tag:a,b`. */
  readonly selector: string
  readonly principal: Principal
  readonly needed: readonly string[]
  readonly refusal?: Refusal | undefined
  /** Called with the model if it is found but has no route for the request. */
  readonly stranded?: ((found: ResolvedModel) => void) | undefined
}

const TAG_PREFIX = 'tag:'

/** The trimmed tags of a selector; undefined for a model name. */
function selectorTags(selector: string): readonly string[] | undefined {
  if (!selector.startsWith(TAG_PREFIX)) return undefined
  return selector
    .slice(TAG_PREFIX.length)
    .split(',')
    .map((tag) => tag.trim())
}

/** Models that match a selector, in the order in which they are tried. */
export function candidatesOf(catalog: ModelCatalog, selector: string): readonly GatewayModel[] {
  const tags = selectorTags(selector)
  if (tags !== undefined) return catalog.ranked.filter((model) => carries(model, tags))
  const model = catalog.find(selector)
  return model === undefined ? [] : [model]
}

function carries(model: GatewayModel, tags: readonly string[]): boolean {
  return tags.every((tag) => model.tags.has(tag))
}

/**
 * The canonical spelling of a selector for logs and counters: tags sorted and unique, so `tag: b,
 * a,b` becomes `tag:a,b`. Model names are unchanged.
 */
export function canonicalSelector(selector: string): string {
  const tags = selectorTags(selector)
  return tags === undefined ? selector : TAG_PREFIX + [...new Set(tags)].sort().join(',')
}

/** Resolves the requested model to one executable route. Throws GatewayError. */
export function resolveRoute(
  catalog: ModelCatalog,
  request: RouteRequest,
  random: Random,
): ResolvedRoute {
  const tags = selectorTags(request.selector)
  return tags === undefined
    ? resolveModel(catalog, request, random)
    : resolveTags(catalog, tags, request, random)
}

function resolveModel(catalog: ModelCatalog, request: RouteRequest, random: Random) {
  const model = catalog.find(request.selector)
  if (model === undefined) {
    throw new GatewayError(
      'model_not_found',
      `model '${shorten(request.selector)}' does not exist; the list of models shows what this key may use`,
    )
  }
  if (!mayUse(request.principal, model)) {
    throw new GatewayError('model_not_granted', `this API key may not use model '${model.id}'`)
  }
  const found = executed(catalog, model)
  try {
    return execute(found, request, random)
  } catch (error) {
    request.stranded?.(found)
    throw error
  }
}

function executed(catalog: ModelCatalog, model: GatewayModel): ResolvedModel {
  return { model, executionModel: catalog.find(model.executionModel) as GatewayModel }
}

function execute(
  found: ResolvedModel,
  { needed, refusal }: RouteRequest,
  random: Random,
): ResolvedRoute {
  return { ...found, ...planRoute(found.executionModel, needed, random, refusal) }
}

function resolveTags(
  catalog: ModelCatalog,
  tags: readonly string[],
  request: RouteRequest,
  random: Random,
) {
  if (tags.includes('')) {
    throw new GatewayError('invalid_request', "model: a tag selector is 'tag:name' or 'tag:a,b'")
  }
  let refused: { found: ResolvedModel; error: GatewayError } | undefined
  for (const model of catalog.ranked) {
    if (!carries(model, tags) || !mayUse(request.principal, model)) continue
    const found = executed(catalog, model)
    try {
      return execute(found, request, random)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      refused ??= { found, error }
    }
  }
  if (refused !== undefined) {
    request.stranded?.(refused.found)
    throw refused.error
  }
  throw new GatewayError(
    'model_not_found',
    `no model that this key may use has the tags of '${shorten(request.selector)}'`,
  )
}

function shorten(text: string): string {
  return text.length <= 128 ? text : `${text.slice(0, 128)}…`
}
