import { type ManagedCheckKind, managedCheckKinds } from 'model-gateway/guardrail'
import { definePlugin, SecretRef, strictObject, Type } from 'model-gateway/plugin'
import { createCheck } from './check.ts'

const config = strictObject({
  url: Type.String({ pattern: '^https?://', description: 'URL of the service' }),
  key_id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'Id of the signing key' }),
  signing_key: SecretRef({ description: 'Signs each request; never sent' }),
  max_characters: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 100_000 }),
})

export default definePlugin({
  manifest: {
    id: 'managed-check.redactor',
    version: '1.0.0',
    contract: 1,
    summary: 'A managed check that masks the findings of a service.',
    config: strictObject({}),
    declares: [
      {
        point: managedCheckKinds,
        spec: {
          kind: 'redactor',
          phases: ['prompt', 'model_response', 'mcp_call', 'mcp_result'],
          config,
          *check({ url }: { url?: unknown }) {
            if (typeof url === 'string' && !URL.canParse(url)) {
              yield { path: ['url'], message: 'is not a URL' }
            }
          },
        },
      },
    ],
    needs: ['clock'],
  },
  setup(ctx) {
    const kind: ManagedCheckKind<typeof config> = {
      kind: 'redactor',
      create: (settings) => createCheck(settings, ctx.clock),
    }
    ctx.provide(managedCheckKinds, kind)
  },
})
