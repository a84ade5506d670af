import { definePlugin, Type } from 'model-gateway/plugin'
import { type ProviderFactory, providerFactories } from 'model-gateway/provider'
import { upstreamResources } from 'model-gateway/resources'
import { createAccounts } from '../_shared/compat-resources.ts'
import { accountOf, createResource } from './bind.ts'
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
    const accounts = createAccounts()
    const factory: ProviderFactory<typeof configSchema> = {
      type: azureOpenai.type,
      create(config, settings) {
        const options = {
          now: () => ctx.clock.now().getTime(),
          warn: (message: string) => ctx.log.warn({ provider: settings.id }, message),
        }
        const account = accountOf(config, settings, ctx.egress, options)
        return {
          bind: createResource(config, settings, ctx.egress, options),
          dispose: accounts.add(settings.id, account),
        }
      },
    }
    ctx.provide(providerFactories, factory)
    ctx.provide(upstreamResources, accounts)
  },
})
