import { definePlugin, Type } from 'model-gateway/plugin'
import { type ProviderFactory, providerFactories } from 'model-gateway/provider'
import { createResource } from './bind.ts'
import { checkProvider, checkRoute, compatibilitySchema, configSchema } from './config.ts'
import { azureOpenai } from './environment.ts'

export default definePlugin({
  manifest: {
    id: 'provider.azure-openai',
    version: '1.0.0',
    contract: 1,
    summary: 'Deployments of Azure OpenAI, with a key or Entra ID',
    config: Type.Object({}, { additionalProperties: false }),
    providerTypes: [
      {
        type: azureOpenai.type,
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
      type: azureOpenai.type,
      create: (config, settings) => ({
        bind: createResource(config, settings, ctx.egress, {
          now: () => ctx.clock.now().getTime(),
          warn: (message) => ctx.log.warn({ provider: settings.id }, message),
        }),
      }),
    }
    ctx.provide(providerFactories, factory)
  },
})
