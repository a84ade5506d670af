import { type ManagedCheckKind, managedCheckKinds } from 'model-gateway/guardrail'
import { definePlugin, SecretRef, strictObject, Type } from 'model-gateway/plugin'
import { createCheck } from './check.ts'

const config = strictObject({
  url: Type.String({ pattern: '^https?://', description: 'URL of the service' }),
  api_key: SecretRef({ description: 'Sent as a bearer token' }),
})

export default definePlugin({
  manifest: {
    id: 'managed-check.sample-name',
    version: '0.1.0',
    contract: 1,
    summary: 'A managed check that calls a service over HTTP.',
    config: strictObject({}),
    declares: [
      {
        point: managedCheckKinds,
        spec: { kind: 'sample_name', phases: ['prompt', 'model_response'], config },
      },
    ],
    needs: [],
  },
  setup(ctx) {
    const kind: ManagedCheckKind<typeof config> = {
      kind: 'sample_name',
      create: ({ url, api_key }) => createCheck(url, api_key),
    }
    ctx.provide(managedCheckKinds, kind)
  },
})
