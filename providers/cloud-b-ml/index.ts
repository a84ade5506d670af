import { definePlugin, Type } from 'model-gateway/plugin'
import { type ProviderFactory, providerFactories } from 'model-gateway/provider'
import { createBinder } from './bind.ts'
import { checkProvider, checkRoute, compatibilitySchema, configSchema } from './config.ts'

const TYPE = 'cloud_b_ml'

export default definePlugin({
  manifest: {
    id: 'provider.cloud-b-ml',
    version: '1.0.0',
    contract: 1,
    summary: 'Amazon Bedrock: Converse, native messages and its OpenAI-compatible endpoints',
    config: Type.Object({}, { additionalProperties: false }),
    providerTypes: [
      {
        type: TYPE,
        aliases: ['bedrock'],
        config: configSchema,
        compatibility: compatibilitySchema,
        checkProvider,
        checkRoute,
      },
    ],
    needs: ['egress', 'clock'],
  },
  setup(ctx) {
    const anomalies = ctx.meter.createCounter('gateway.upstream.anomalies', {
      unit: '{event}',
      description: 'Undocumented data from upstreams that did not fail the call.',
    })
    const factory: ProviderFactory<typeof configSchema> = {
      type: TYPE,
      create: (config, settings) => ({
        bind: createBinder(config, settings, {
          egress: ctx.egress,
          now: () => ctx.clock.now(),
          warn: (message) => ctx.log.warn({ provider: settings.id }, message),
          count: (kind) => anomalies.add(1, { kind }),
        }),
      }),
    }
    ctx.provide(providerFactories, factory)
  },
})
