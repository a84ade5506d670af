import { definePlugin, Type } from 'model-gateway/plugin'
import { type ProviderFactory, providerFactories } from 'model-gateway/provider'
import { bindRoute } from './bind.ts'
import { checkProvider, checkRoute, compatibilitySchema, configSchema } from './config.ts'
import { anthropic } from './environment.ts'

export default definePlugin({
  manifest: {
    id: 'provider.anthropic',
    version: '1.0.0',
    contract: 1,
    summary: 'Anthropic, and each service with its messages API',
    config: Type.Object({}, { additionalProperties: false }),
    providerTypes: [
      {
        type: anthropic.type,
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
      type: anthropic.type,
      create: (config, settings) => ({
        bind: (route) => bindRoute(config, settings, ctx.egress, route),
      }),
    }
    ctx.provide(providerFactories, factory)
  },
})
