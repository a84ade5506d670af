import { type ManagedCheckKind, managedCheckKinds } from 'model-gateway/guardrail'
import { definePlugin, Type } from 'model-gateway/plugin'
import { createGuardrail } from './check.ts'
import { checkConfig, configSchema, phases } from './config.ts'

const KIND = 'cloud_b_guardrail'

export default definePlugin({
  manifest: {
    id: 'managed-check.cloud-b-guardrail',
    version: '1.0.0',
    contract: 1,
    summary: 'Managed checks by Amazon Bedrock Guardrails',
    config: Type.Object({}, { additionalProperties: false }),
    declares: [
      {
        point: managedCheckKinds,
        spec: {
          kind: KIND,
          aliases: ['bedrock_guardrail'],
          phases,
          config: configSchema,
          check: checkConfig,
        },
      },
    ],
    needs: ['clock'],
  },
  setup(ctx) {
    const kind: ManagedCheckKind<typeof configSchema> = {
      kind: KIND,
      create: (config) =>
        createGuardrail(config, {
          now: () => ctx.clock.now(),
          warn: (message) => ctx.log.warn({ managed_check_kind: KIND }, message),
        }),
    }
    ctx.provide(managedCheckKinds, kind)
  },
})
