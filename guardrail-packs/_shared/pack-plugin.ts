import { type GuardrailPack, guardrailPacks } from 'model-gateway/guardrail'
import { definePlugin, Type } from 'model-gateway/plugin'

/** The plugin of one pack, with the pack's name: `guardrail-pack.core-shell`. */
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
