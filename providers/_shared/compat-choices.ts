import { isJsonObject, type JsonObject, type JsonValue, type Problem } from 'model-gateway/plugin'
import { foldKey } from 'model-gateway/wire'
import { invalidRequest } from './invalid-request.ts'

/**
 * Members other than `model` by which compatible services let a caller select models, sellers,
 * accounts and addresses with other prices. OpenRouter, LiteLLM, Vercel, Groq and Portkey have
 * them; OpenAI's API does not.
 */
export const CHOICES = {
  models: 'model',
  fallback: 'model',
  fallbacks: 'model',
  fallback_models: 'model',
  default_fallbacks: 'model',
  context_window_fallbacks: 'model',
  content_policy_fallbacks: 'model',
  model_list: 'model',
  route: 'model',
  router_settings_override: 'model',
  user_config: 'model',
  preset: 'model',
  plugins: 'model',
  compound_custom: 'model',
  extra_body: 'model',
  provider: 'seller',
  providers: 'seller',
  providerOptions: 'seller',
  provider_options: 'seller',
  custom_llm_provider: 'seller',
  deployment_id: 'seller',
  api_base: 'seller',
  base_url: 'seller',
  api_key: 'seller',
  api_version: 'seller',
  litellm_params: 'seller',
  litellm_credential_name: 'seller',
  virtual_key: 'seller',
  extra_headers: 'seller',
} as const satisfies Readonly<Record<string, 'model' | 'seller'>>

const kinds: ReadonlyMap<string, 'model' | 'seller'> = new Map(
  Object.entries(CHOICES).map(([name, kind]) => [foldKey(name), kind]),
)

const WHY = {
  model: 'could select a model other than the granted and priced one',
  seller: 'could select a seller other than the priced one',
} as const

/**
 * Refuses a caller's body that selects a model or seller, because grants and prices would not
 * match. `settled`: members that the route sets itself or lets callers send. `models` may repeat
 * the route's model. Members without a value are allowed. Throws `invalid_request`.
 */
export function choiceCheck(
  upstreamModel: string,
  settled: Iterable<string>,
): (body: JsonObject) => void {
  const allowed = new Set([...settled].map(foldKey))
  return (body) => {
    for (const name of Object.keys(body)) {
      const folded = foldKey(name)
      const kind = kinds.get(folded)
      if (kind === undefined || allowed.has(folded) || isEmpty(body[name])) continue
      if (folded === 'models' && isOnly(body[name], upstreamModel)) continue
      throw invalidRequest(`${name}: ${WHY[kind]}; leave it out, or ask for another gateway model`)
    }
  }
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (value === null || value === undefined || value === '' || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function isOnly(value: JsonValue | undefined, model: string): boolean {
  return Array.isArray(value) && value.every((name) => name === model)
}

/** Warns of a priced route whose `extra_body` lets models answer that have another price. */
export function* checkChoices(
  route: Readonly<JsonObject>,
  provider: Readonly<JsonObject>,
): Iterable<Problem> {
  if (typeof provider.pricing_provider_id !== 'string' || !isJsonObject(route.extra_body)) return
  for (const [name, value] of Object.entries(route.extra_body)) {
    if (kinds.get(foldKey(name)) !== 'model' || isEmpty(value)) continue
    yield {
      path: ['extra_body', name],
      message: 'can select another model, which would be billed at the price of upstream_model',
      hint: 'give each model a separate route, without this member',
      severity: 'warning',
    }
  }
}
