import { definePlugin, Type } from 'model-gateway/plugin'
import { type ProviderFactory, providerFactories } from 'model-gateway/provider'
import { simulateChat } from './chat.ts'
import { configSchema } from './config.ts'
import { simulateEmbeddings } from './embeddings.ts'
import { simulateResponses } from './responses.ts'
import { simulatedExecutor } from './simulate.ts'

const TYPE = 'simulator'

export default definePlugin({
  manifest: {
    id: 'provider.simulator',
    version: '1.0.0',
    contract: 1,
    summary: 'Deterministic replies without a model, for first steps and tests',
    config: Type.Object({}, { additionalProperties: false }),
    providerTypes: [
      {
        type: TYPE,
        config: configSchema,
        compatibility: Type.Object({}, { additionalProperties: false }),
      },
    ],
    needs: ['clock'],
  },
  setup(ctx) {
    const factory: ProviderFactory<typeof configSchema> = {
      type: TYPE,
      create: (config, settings) => ({
        bind({ upstreamModel: model }) {
          return {
            supports: ['stream', 'tools', 'vision', 'json_schema'],
            pricing: { pricingProviderId: settings.pricingProviderId, model },
            execute: {
              chat_completions: simulatedExecutor(simulateChat, model, config, ctx.clock),
              responses: simulatedExecutor(simulateResponses, model, config, ctx.clock),
              embeddings: simulatedExecutor(simulateEmbeddings, model, config, ctx.clock),
            },
          }
        },
      }),
    }
    ctx.provide(providerFactories, factory)
  },
})
