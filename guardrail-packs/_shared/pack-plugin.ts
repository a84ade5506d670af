import { type GuardrailPack, guardrailPacks } from 'model-gateway/guardrail'
import { definePlugin, Type } from 'model-gateway/plugin'

/** The plugin that brings one pack, and is named after it: `guardrail-pack.core-shell`. */
export function packPlugin(pack: GuardrailPack) {
  return definePlugin({
    manifest: {
      id: `guardrail-pack.${pack.id.replaceAll(/[._]/g, '-')}`,
      version: '0.1.0',
      contract: 1,
      summary: `The guardrail pack ${pack.id}.`,
      config: Type.Object({}, { additionalProperties: false }),
      declares: [{ point: guardrailPacks, spec: pack }],
      needs: [],
    },
    setup: ({ provide }) => provide(guardrailPacks, pack),
  })
}
