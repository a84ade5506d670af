import { definePlugin, Type } from 'model-gateway/plugin'
import { type ProviderFactory, providerFactories } from 'model-gateway/provider'
import { googleCredentials } from '../_shared/google-auth.ts'
import { bindRoute } from './bind.ts'
import { checkProvider, checkRoute, compatibilitySchema, configSchema } from './config.ts'

const TYPE = 'cloud_a_ml'

export default definePlugin({
  manifest: {
    id: 'provider.cloud-a-ml',
    version: '1.0.0',
    contract: 1,
    summary: 'Google Vertex AI: models of Google and Anthropic, text embeddings',
    config: Type.Object({}, { additionalProperties: false }),
    providerTypes: [
      {
        type: TYPE,
        aliases: ['vertex_ai'],
        config: configSchema,
        compatibility: compatibilitySchema,
        checkProvider,
        checkRoute,
      },
    ],
    needs: ['egress', 'clock'],
  },
  setup(ctx) {
    const factory: ProviderFactory<typeof configSchema> = {
      type: TYPE,
      create(config, settings) {
        const authenticate = googleCredentials(config.auth, 'authorization', {
          env: process.env,
          now: () => ctx.clock.now().getTime(),
          warn: (message) => ctx.log.warn({ provider: settings.id }, message),
        })
        const service = { config, settings, egress: ctx.egress, authenticate }
        return { bind: (route) => bindRoute(service, route) }
      },
    }
    ctx.provide(providerFactories, factory)
  },
})
