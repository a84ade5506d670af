import { definePlugin, SecretRef, strictObject, Type } from 'model-gateway/plugin'
import {
  type ProviderFactory,
  type ProviderTypeSpec,
  providerFactories,
} from 'model-gateway/provider'
import { dialects, surfaces } from 'model-gateway/surface'
import { RERANK, rerank } from './dialect.ts'
import { createProvider } from './provider.ts'
import { readRerank } from './request.ts'

const config = strictObject({
  base_url: Type.String({ pattern: '^https?://', description: 'Base URL of the vendor' }),
  api_key: SecretRef({ description: 'Sent as a bearer token' }),
})

const vendor = {
  type: 'rerank',
  config,
  compatibility: strictObject({}),
} satisfies ProviderTypeSpec

export default definePlugin({
  manifest: {
    id: 'plugin.rerank',
    version: '1.0.0',
    contract: 1,
    summary: 'The API POST /vendor/rerank, and a provider type for it.',
    config: strictObject({}),
    needs: ['egress'],
    // Capability flag of this API. `capabilities: { vendor_rerank: false }` turns it off for a
    // route.
    dialects: [RERANK],
    providerTypes: [vendor],
  },
  setup(ctx) {
    ctx.provide(surfaces, {
      id: RERANK,
      paths: ['/vendor/rerank'],
      dialect: RERANK,
      operation: RERANK,
      read: ({ json }) => readRerank(json),
    })
    ctx.provide(dialects, rerank)
    const factory: ProviderFactory<typeof config> = {
      type: vendor.type,
      create: (fields, settings) => createProvider({ ...fields, ...settings }, ctx.egress),
    }
    ctx.provide(providerFactories, factory)
  },
})
