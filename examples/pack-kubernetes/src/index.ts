import { guardrailPacks } from 'model-gateway/guardrail'
import { definePlugin, strictObject } from 'model-gateway/plugin'
import { kubernetesPack } from './pack.ts'

/** Needs no capabilities and provides only packs, so it may run in a separate thread. */
export default definePlugin({
  manifest: {
    id: 'guardrail-pack.kubernetes',
    version: '1.0.0',
    contract: 1,
    summary: 'The guardrail pack custom.kubernetes.',
    config: strictObject({}),
    declares: [{ point: guardrailPacks, spec: kubernetesPack }],
    needs: [],
  },
  setup(ctx) {
    ctx.provide(guardrailPacks, kubernetesPack)
  },
})
