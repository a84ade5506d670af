import { definePlugin, SecretRef, strictObject, Type } from 'model-gateway/plugin'
import {
  type ProviderFactory,
  type ProviderTypeSpec,
  providerFactories,
} from 'model-gateway/provider'
import { createProvider } from './provider.ts'

const config = strictObject({
  base_url: Type.String({ pattern: '^https?://', description: 'Base URL of the vendor' }),
  project: Type.String({
    pattern: '^[a-z0-9-]{1,40}$',
    description: 'Project that the vendor bills',
  }),
  api_key: SecretRef({ description: 'The API key, sent as authorization: Brook PROJECT:KEY' }),
})

/** Route fields of this provider type, under `compatibility`. */
const compatibility = strictObject({
  /** Sent as `tier`; the vendor bills the two tiers differently. */
  tier: Type.Optional(Type.Union([Type.Literal('steady'), Type.Literal('spare')])),
})

const brook = {
  type: 'brook',
  aliases: ['brook_ai'],
  config,
  compatibility,
  *checkProvider({ base_url, project }) {
    // Any field may be missing, because fields that fail the schema are removed first.
    if (typeof base_url === 'string' && project === 'demo' && base_url.startsWith('https://')) {
      yield {
        path: ['project'],
        message: 'the project "demo" exists only at the stand-in; write your project',
        severity: 'warning',
      }
    }
  },
} satisfies ProviderTypeSpec

export default definePlugin({
  manifest: {
    id: 'provider.brook',
    version: '1.0.0',
    contract: 1,
    summary: 'Chat with tools, by the Brook API.',
    config: strictObject({}),
    providerTypes: [brook],
    needs: ['egress'],
  },
  setup(ctx) {
    const factory: ProviderFactory<typeof config> = {
      type: brook.type,
      create: (fields, settings) => createProvider({ ...fields, ...settings }, ctx.egress),
    }
    ctx.provide(providerFactories, factory)
  },
})
