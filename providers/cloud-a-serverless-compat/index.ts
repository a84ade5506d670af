import { definePlugin, Type } from 'model-gateway/plugin'
import { type ProviderFactory, providerFactories } from 'model-gateway/provider'
import { createService, TYPE } from './bind.ts'
import { checkProvider, checkRoute, compatibilitySchema, configSchema } from './config.ts'

export default definePlugin({
  manifest: {
    id: 'provider.cloud-a-serverless-compat',
    version: '1.0.0',
    contract: 1,
    summary: 'OpenAI-compatible servers on Google Cloud Run',
    config: Type.Object({}, { additionalProperties: false }),
    providerTypes: [
      {
        type: TYPE,
        aliases: ['cloud_run'],
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
      create: (config, settings) => ({
        bind: createService(config, settings, ctx.egress, {
          env: process.env,
          now: () => ctx.clock.now().getTime(),
          warn: (message) => ctx.log.warn({ provider: settings.id }, message),
        }),
      }),
    }
    ctx.provide(providerFactories, factory)
  },
})
