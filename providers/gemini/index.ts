import { definePlugin, Type } from 'model-gateway/plugin'
import { type ProviderFactory, providerFactories } from 'model-gateway/provider'
import { bindRoute } from './bind.ts'
import { checkProvider, checkRoute, compatibilitySchema, configSchema } from './config.ts'
import { gemini } from './environment.ts'

export default definePlugin({
  manifest: {
    id: 'provider.gemini',
    version: '1.0.0',
    contract: 1,
    summary: 'Gemini through the Google AI Studio API',
    config: Type.Object({}, { additionalProperties: false }),
    providerTypes: [
      {
        type: gemini.type,
        config: configSchema,
        compatibility: compatibilitySchema,
        checkProvider,
        checkRoute,
      },
    ],
    needs: ['egress'],
  },
  setup(ctx) {
    const factory: ProviderFactory<typeof configSchema> = {
      type: gemini.type,
      create: (config, settings) => ({
        bind: (route) => bindRoute(config, settings, ctx.egress, route),
      }),
    }
    ctx.provide(providerFactories, factory)
  },
})
