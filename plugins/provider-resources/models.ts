import type { GuardPhase } from 'model-gateway/guardrail'
import type { Principal } from 'model-gateway/identity'
import { type Capabilities, GatewayError } from 'model-gateway/plugin'
import type { Surface } from 'model-gateway/surface'
import { invalid } from 'model-gateway/wire'
import type { LineModel } from './lines.ts'

/** Guardrail phases that batches would bypass. */
const JUDGED: readonly GuardPhase[] = ['prompt', 'model_response', 'generated_tool_call']

export interface ModelsOptions {
  readonly inspection: Capabilities['inspection']
  readonly surfaces: () => readonly Surface[]
}

export type Models = ReturnType<typeof createModels>

/** The API at a path, with `/v1` or, as in batches of some vendors, without. */
export function surfaceOf(path: string, surfaces: readonly Surface[]): Surface | undefined {
  return surfaces.find(({ paths }) => paths.includes(path) || paths.includes(`/v1${path}`))
}

/** Resolves the API of a path and its models, for calls that are not sent one by one. */
export function createModels({ inspection, surfaces }: ModelsOptions) {
  /** Throws `invalid_request`. */
  function surfaceAt(path: string): Surface {
    const surface = surfaceOf(path, surfaces())
    if (surface !== undefined) return surface
    const known = surfaces().flatMap(({ paths }) => paths)
    throw invalid(`the gateway has no API at '${path}'; available: ${known.join(', ')}`)
  }

  /**
   * Resolves a requested model at one provider. Throws GatewayError if the caller may not use it,
   * if it has no route there, or if a guardrail checks its calls.
   */
  async function resolve(
    principal: Principal,
    provider: string,
    path: string,
    requested: string,
  ): Promise<LineModel> {
    const surface = surfaceAt(path)
    const plan = await inspection.plan({
      principal,
      surface: surface.id,
      model: requested,
      body: undefined,
    })
    const { outcome, models } = plan
    const allowed = models.filter(({ refused }) => refused === undefined)
    if (allowed.length === 0) {
      throw 'error' in outcome ? outcome.error : invalid(`the model '${requested}' is not known`)
    }
    for (const { executionModel, routes } of allowed) {
      const route = routes.find(
        ({ spec, fault }) =>
          spec.provider === provider && (fault === undefined || fault.reason === 'behind'),
      )
      if (route === undefined) continue
      const { spec, guard } = route
      if (guard?.phases.some((phase) => JUDGED.includes(phase))) {
        throw new GatewayError(
          'guardrail_denied',
          `the guardrail policy '${guard.scope}' checks calls of the model '${requested}', but batch lines are not checked: call the model directly`,
        )
      }
      return { requested, resolved: executionModel, upstream: spec.upstreamModel }
    }
    throw invalid(
      `the model '${requested}' has no route to the provider '${provider}' that supports ${path}`,
    )
  }

  return { resolve }
}
