import { type ManagedCheckKind, managedCheckKinds } from 'model-gateway/guardrail'
import { definePlugin, Type } from 'model-gateway/plugin'
import { createSanitizer } from './check.ts'
import { checkConfig, configSchema, phases } from './config.ts'

const KIND = 'cloud_a_sanitizer'

export default definePlugin({
  manifest: {
    id: 'managed-check.cloud-a-sanitizer',
    version: '1.0.0',
    contract: 1,
    summary: 'Managed checks by Model Armor of Google Cloud',
    config: Type.Object({}, { additionalProperties: false }),
    declares: [
      {
        point: managedCheckKinds,
        spec: {
          kind: KIND,
          aliases: ['model_armor'],
          phases,
          config: configSchema,
          check: checkConfig,
        },
      },
    ],
    needs: [],
  },
  setup(ctx) {
    const kind: ManagedCheckKind<typeof configSchema> = { kind: KIND, create: createSanitizer }
    ctx.provide(managedCheckKinds, kind)
  },
})
