import { definePlugin, SecretRef, type Static, strictObject, Type } from 'model-gateway/plugin'
import {
  type Egress,
  type ProviderCall,
  type ProviderFactory,
  type ProviderSettings,
  type ProviderTypeSpec,
  providerFactories,
} from 'model-gateway/provider'
import { credentialForms, maskForms } from 'model-gateway/wire'
import { completionOf, refusal, vendorRequest } from './convert.ts'
import { streamOf } from './stream.ts'

const config = strictObject({
  base_url: Type.String({ pattern: '^https?://', description: 'URL of the vendor' }),
  api_key: SecretRef({ description: 'Sent as x-vendor-key' }),
})

const sampleNameType = {
  type: 'sample_name',
  config,
  compatibility: strictObject({}),
} satisfies ProviderTypeSpec

/** A configured provider of the type. `bind` returns the executable route of a model. */
function createProvider(
  { base_url, api_key }: Static<typeof config>,
  { defaultHeaders, pricingProviderId }: ProviderSettings,
  egress: Egress,
): ReturnType<ProviderFactory['create']> {
  const url = `${base_url.replace(/\/+$/, '')}/generate`

  return {
    bind({ upstreamModel, extraHeaders, extraBody }) {
      async function generate(call: ProviderCall) {
        const key = await api_key.revealCurrent()
        const redact = (words: string) => maskForms(words, credentialForms([key]))
        const response = await egress.send(call, url, {
          method: 'POST',
          headers: {
            ...defaultHeaders,
            ...extraHeaders,
            'content-type': 'application/json',
            'x-vendor-key': key,
          },
          body: JSON.stringify({ ...vendorRequest(call, upstreamModel), ...extraBody }),
        })
        if (response.status !== 200) {
          throw refusal(response.status, await response.bytes(), redact)
        }
        const about = { id: `sample-name-${call.requestId}`, model: upstreamModel }
        return call.stream
          ? { kind: 'stream' as const, events: streamOf(response.body, about, redact) }
          : { kind: 'buffered' as const, body: completionOf(await response.bytes(), about) }
      }

      return {
        supports: ['stream'],
        pricing: { pricingProviderId, model: upstreamModel },
        execute: { chat_completions: generate },
      }
    },
  }
}

export default definePlugin({
  manifest: {
    id: 'provider.sample-name',
    version: '0.1.0',
    contract: 1,
    summary: 'Chat with a vendor that has its own JSON API.',
    config: strictObject({}),
    providerTypes: [sampleNameType],
    needs: ['egress'],
  },
  setup(ctx) {
    const factory: ProviderFactory<typeof config> = {
      type: sampleNameType.type,
      create: (fields, settings) => createProvider(fields, settings, ctx.egress),
    }
    ctx.provide(providerFactories, factory)
  },
})
