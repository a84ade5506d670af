import { definePlugin, SecretRef, strictObject, Type } from 'model-gateway/plugin'
import {
  type ProviderFactory,
  type ProviderTypeSpec,
  providerFactories,
} from 'model-gateway/provider'
import { createProvider } from './provider.ts'

const config = strictObject({
  base_url: Type.String({ pattern: '^https?://', description: 'Address of the vendor' }),
  project: Type.String({ pattern: '^[a-z0-9-]{1,40}$', description: 'Who pays at the vendor' }),
  api_key: SecretRef({ description: 'Sent in the scheme Brook of the authorization header' }),
})

/** Fields that a route of the type may have of its own, under `compatibility`. */
const compatibility = strictObject({
  /** The vendor bills the two differently: its `tier` in the request. */
  tier: Type.Optional(Type.Union([Type.Literal('steady'), Type.Literal('spare')])),
})

const brook = {
  type: 'brook',
  aliases: ['brook_ai'],
  config,
  compatibility,
  *checkProvider({ base_url, project }) {
    // Any field may be missing here: what the schema refuses is cut out before.
    if (typeof base_url === 'string' && project === 'demo' && base_url.startsWith('https://')) {
      yield {
        path: ['project'],
        message: 'the project demo exists at the stand-in only',
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
    summary: 'Chat with tools by the Brook API.',
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
