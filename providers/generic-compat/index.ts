import { definePlugin, Type } from 'model-gateway/plugin'
import {
  type ProviderFactory,
  type ProviderTypeSpec,
  providerFactories,
} from 'model-gateway/provider'
import { upstreamResources } from 'model-gateway/resources'
import { ALL_KINDS, compatAccount, createAccounts } from '../_shared/compat-resources.ts'
import { bindRoute, serviceOf, TYPE } from './bind.ts'
import {
  type Config,
  checkProvider,
  checkRoute,
  compatibilitySchema,
  configSchema,
  presetSchema,
} from './config.ts'
import { type Preset, presets } from './presets.ts'

const presetType = (preset: Preset): ProviderTypeSpec => ({
  type: preset.type,
  config: presetSchema,
  compatibility: compatibilitySchema,
  checkProvider: (provider) => checkProvider(provider, preset),
  checkRoute: (route, provider) => checkRoute(route, provider, preset),
})

export default definePlugin({
  manifest: {
    id: 'provider.generic-compat',
    version: '1.0.0',
    contract: 1,
    summary: 'Any OpenAI-compatible API, with presets for vendors',
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
      ...presets.map(presetType),
    ],
    needs: ['egress'],
  },
  setup(ctx) {
    const accounts = createAccounts()
    const factory = (type: string, preset?: Preset): ProviderFactory<typeof presetSchema> => ({
      type,
      create(config: Config, settings) {
        const service = serviceOf(config, settings, ctx.egress, preset)
        const kept = preset === undefined ? ALL_KINDS : preset.keeps
        return {
          bind: (route) => bindRoute(service, route, preset),
          ...(kept && { dispose: accounts.add(settings.id, compatAccount(service, kept)) }),
        }
      },
    })
    ctx.provide(providerFactories, factory(TYPE))
    for (const preset of presets) ctx.provide(providerFactories, factory(preset.type, preset))
    ctx.provide(upstreamResources, accounts)
  },
})
