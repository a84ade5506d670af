import type { GuardPhase } from 'model-gateway/guardrail'
import type { Principal } from 'model-gateway/identity'
import { type Capabilities, GatewayError } from 'model-gateway/plugin'
import type { Surface } from 'model-gateway/surface'
import { invalid } from 'model-gateway/wire'
import type { LineModel } from './lines.ts'

/** What a batch is not judged by: it would go past the policies of its models. */
const JUDGED: readonly GuardPhase[] = ['prompt', 'model_response', 'generated_tool_call']

export interface ModelsOptions {
  readonly inspection: Capabilities['inspection']
  readonly surfaces: () => readonly Surface[]
}

export type Models = ReturnType<typeof createModels>

/** The API at a path, with `/v1` or, as some vendors have it in batches, without. */
export function surfaceOf(path: string, surfaces: readonly Surface[]): Surface | undefined {
  return surfaces.find(({ paths }) => paths.includes(path) || paths.includes(`/v1${path}`))
}

/** The API that a path leads to, and the models behind it, for calls that do not come one by one. */
export function createModels({ inspection, surfaces }: ModelsOptions) {
  /** Throws `invalid_request`. */
  function surfaceAt(path: string): Surface {
    const surface = surfaceOf(path, surfaces())
    if (surface !== undefined) return surface
    const known = surfaces().flatMap(({ paths }) => paths)
    throw invalid(`the gateway has no API at '${path}'; available: ${known.join(', ')}`)
  }

  /**
   * The model by the name of a caller, on one provider. Throws GatewayError for a model that the caller may
   * not use, that has no route there, or whose calls a guard judges.
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
