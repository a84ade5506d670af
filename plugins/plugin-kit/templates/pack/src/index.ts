import { guardrailPacks } from 'model-gateway/guardrail'
import { definePlugin, strictObject } from 'model-gateway/plugin'
import { sampleNamePack } from './pack.ts'

export default definePlugin({
  manifest: {
    id: 'guardrail-pack.sample-name',
    version: '0.1.0',
    contract: 1,
    summary: 'Guardrail pack custom.sample_name.',
    config: strictObject({}),
    declares: [{ point: guardrailPacks, spec: sampleNamePack }],
    needs: [],
  },
  setup(ctx) {
    ctx.provide(guardrailPacks, sampleNamePack)
  },
})
