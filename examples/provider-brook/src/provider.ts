import type { Secret } from 'model-gateway/plugin'
import type { Egress, Execute, Provider, ProviderSettings, RouteSpec } from 'model-gateway/provider'
import { credentialForms, maskForms } from 'model-gateway/wire'
import { completionOf, refusal } from './reply.ts'
import { vendorRequest } from './request.ts'
import { streamOf } from './stream.ts'

export interface BrookSettings extends ProviderSettings {
  readonly base_url: string
  readonly project: string
  readonly api_key: Secret
}

/** One entry of `providers` in the config. Sends nothing until a request arrives. */
export function createProvider(settings: BrookSettings, egress: Egress): Provider {
  const url = `${settings.base_url.replace(/\/+$/, '')}/turns`

  function executor({ upstreamModel, extraHeaders, extraBody, compatibility }: RouteSpec): Execute {
    const { tier } = compatibility
    return async (call) => {
      // Read for each call, so that a key file can change while the gateway runs.
      const key = await settings.api_key.revealCurrent()
      const redact = (words: string) => maskForms(words, credentialForms([key]))
      const request = vendorRequest(call, upstreamModel)
      const response = await egress.send(call, url, {
        method: 'POST',
        headers: {
          ...settings.defaultHeaders,
          ...extraHeaders,
          'content-type': 'application/json',
          authorization: `Brook ${settings.project}:${key}`,
        },
        body: JSON.stringify({ ...request, ...(tier !== undefined && { tier }), ...extraBody }),
      })
      if (response.status !== 200) throw refusal(response.status, await response.bytes(), redact)
      const about = { id: `brook-${call.requestId}`, model: upstreamModel }
      // The tier changes the price, so it is reported for pricing.
      const billing = tier === 'spare' ? { billingModifiers: ['tier:spare'] } : {}
      return call.stream
        ? { kind: 'stream', events: streamOf(response.body, about, redact), ...billing }
        : { kind: 'buffered', body: completionOf(await response.bytes(), about), ...billing }
    }
  }

  return {
    bind: (route) => ({
      // The gateway refuses features that are not listed, such as images and JSON schemas.
      supports: ['stream', 'tools'],
      pricing: { pricingProviderId: settings.pricingProviderId, model: route.upstreamModel },
      execute: { chat_completions: executor(route) },
    }),
  }
}
