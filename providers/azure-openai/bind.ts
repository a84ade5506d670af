import type { BoundRoute, Egress, ProviderSettings, RouteSpec } from 'model-gateway/provider'
import type { UpstreamAccount } from 'model-gateway/resources'
import type { Authentication } from '../_shared/compat-http.ts'
import { ALL_KINDS, compatAccount } from '../_shared/compat-resources.ts'
import { bindCompatRoute } from '../_shared/compat-route.ts'
import { needsResponses } from '../_shared/reasoning-models.ts'
import { addressOf, type Compatibility, type Config } from './config.ts'
import { type EntraOptions, entraCredentials } from './entra.ts'
import { azureOpenai } from './environment.ts'
import { watchingModel } from './replied-model.ts'

/**
 * At these paths Azure has no moderations and rerank, and it no longer deploys text completion
 * models.
 */
const APIS = [
  ...['chat_completions', 'responses', 'embeddings', 'images', 'images.edits'],
  ...['audio.speech', 'audio.transcriptions', 'audio.translations'],
]

/** One resource. Its routes share what is created here, above all the credentials. */
export function createResource(
  config: Config,
  settings: ProviderSettings,
  egress: Egress,
  options: EntraOptions,
): (route: RouteSpec) => BoundRoute {
  const authenticate = authentication(config, options)
  const priced = {
    ...settings,
    pricingProviderId: settings.pricingProviderId ?? azureOpenai.pricing,
  }
  return (route) => {
    const { azure_openai: named = {}, generic_compat: stated } =
      route.compatibility as Compatibility
    const deployment = route.upstreamModel
    // Prices and capabilities are looked up by this model; calls are sent the deployment's name.
    const { model = deployment } = named
    const service = {
      ...addressOf(config, deployment),
      ...authenticate,
      settings: priced,
      egress,
      type: azureOpenai.type,
      apis: APIS,
    }
    const profile = {
      supports_stream_usage: true,
      upstream_api: needsResponses(model) ? 'responses' : 'chat',
      ...stated,
    } as const
    const extraBody = { ...route.extraBody, model: deployment }
    const bound = bindCompatRoute(
      service,
      { ...route, upstreamModel: model, extraBody },
      { profile, aggregatorProvider: undefined },
    )
    const chatMember = profile.upstream_api === 'responses' ? 'provider_model' : 'model'
    const watched = { deployment, model, chatMember, warn: options.warn } as const
    return { ...bound, execute: watchingModel(bound.execute, watched) }
  }
}

/** Files, batches and stored responses; for batches, a line's `model` is a deployment. */
export function accountOf(
  config: Config,
  settings: ProviderSettings,
  egress: Egress,
  options: EntraOptions,
): UpstreamAccount {
  const { baseUrl } = addressOf(config, '')
  const service = { baseUrl, settings, egress, type: azureOpenai.type }
  const account = compatAccount({ ...service, ...authentication(config, options) }, ALL_KINDS)
  const { api_version: version } = config
  if (version === undefined) return account
  return {
    ...account,
    send({ path, ...call }) {
      const sign = path.includes('?') ? '&' : '?'
      return account.send({ ...call, path: `${path}${sign}api-version=${version}` })
    },
  }
}

function authentication({ api_key: key, auth }: Config, options: EntraOptions): Authentication {
  if (auth !== undefined) return entraCredentials(auth, options)
  return { credentials: (): Record<string, string> => (key ? { 'api-key': key.reveal() } : {}) }
}
