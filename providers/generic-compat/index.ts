import { definePlugin, Type } from 'model-gateway/plugin'
import { type ProviderFactory, providerFactories } from 'model-gateway/provider'
import { bindRoute, TYPE } from './bind.ts'
import { checkProvider, checkRoute, compatibilitySchema, configSchema } from './config.ts'

export default definePlugin({
  manifest: {
    id: 'provider.generic-compat',
    version: '1.0.0',
    contract: 1,
    summary: 'Any OpenAI-compatible API, OpenRouter included',
    config: Type.Object({}, { additionalProperties: false }),
    providerTypes: [
      {
        type: TYPE,
        aliases: ['openai_compat'],
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
      type: TYPE,
      create: (config, settings) => ({
        bind: (route) => bindRoute(config, settings, ctx.egress, route),
      }),
    }
    ctx.provide(providerFactories, factory)
  },
})
