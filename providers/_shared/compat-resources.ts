import type { ProviderCall } from 'model-gateway/provider'
import type { ResourceKind, UpstreamAccount, UpstreamResources } from 'model-gateway/resources'
import { responsesDialect } from 'model-gateway/wire'
import { joinUrl, mergeHeaders } from './compat-http.ts'
import type { CompatService } from './compat-route.ts'
import { createRedact } from './redact.ts'
import { readUpstreamError, refusesCredentials } from './upstream-error.ts'

/** The accounts of a plugin's provider instances, by id, provided at `upstreamResources`. */
export interface Accounts extends UpstreamResources {
  /** Call it in the factory's `create`, and the returned function in the provider's `dispose`. */
  add(providerId: string, account: UpstreamAccount): () => void
}

export function createAccounts(): Accounts {
  // A checked config, or a reload, creates instances while others are active.
  const all = new Map<string, UpstreamAccount[]>()
  return {
    add(providerId, account) {
      all.set(providerId, [...(all.get(providerId) ?? []), account])
      return () => {
        const rest = (all.get(providerId) ?? []).filter((one) => one !== account)
        if (rest.length > 0) all.set(providerId, rest)
        else all.delete(providerId)
      }
    },
    open: (providerId) => all.get(providerId)?.at(-1),
  }
}

export const ALL_KINDS: readonly ResourceKind[] = ['files', 'batches', 'responses']

/** Resources that an OpenAI-compatible API stores for its callers. */
export function compatAccount(
  { baseUrl, settings, egress, ...service }: CompatService,
  kinds: readonly ResourceKind[],
): UpstreamAccount {
  const configured = mergeHeaders(settings.defaultHeaders)
  return {
    kinds,
    pricing: (model) => ({ pricingProviderId: settings.pricingProviderId, model }),
    async send({ requestId, method, path, headers: own = {}, body, signal }) {
      const url = joinUrl(baseUrl, path)
      const headers = mergeHeaders(configured, own)
      const text = typeof body === 'string' ? body : ''
      const credentials = await service.credentials({ url, headers, body: text })
      const response = await egress.send(callOf(requestId, signal), url, {
        method,
        headers: { ...headers, ...credentials },
        ...(body !== undefined && { body }),
      })
      const { status } = response
      if (status >= 200 && status <= 299) return response
      if (refusesCredentials(response)) service.refused?.(credentials)
      const redact = createRedact(Object.values(credentials), configured)
      throw await readUpstreamError(response, redact)
    },
  }
}

/** The parts of a route's call that egress reads. */
function callOf(requestId: string, signal: AbortSignal): ProviderCall {
  return {
    requestId,
    signal,
    body: {},
    rawBody: undefined,
    stream: false,
    surface: responsesDialect.id,
    dialect: responsesDialect,
    maxResponseBytes: Number.MAX_SAFE_INTEGER,
    traceparent: undefined,
    alive() {},
    answered() {},
    dropped() {},
  }
}
