import { type GuardPolicy, guard } from 'model-gateway/guardrail'
import { definePlugin, Type } from 'model-gateway/plugin'

/** A guard denies what holds this word, wherever it stands. */
export const FORBIDDEN = 'FORBIDDEN'

/** For as long as it is blind, it is a guard that a route has gone around. */
export const eyes = { blind: false }

const policy: GuardPolicy = {
  scope: 'global',
  streamBufferBytes: 1 << 20,
  streamBufferTimeoutMs: 5_000,
  covers: () => !eyes.blind,
  async inspect({ phase, content }) {
    if (!JSON.stringify(content).includes(FORBIDDEN)) return { action: 'allow' }
    const decisionId = '00000000-0000-7000-8000-000000000000'
    return { action: 'deny', decisionId, reasonCode: phase, message: 'a forbidden word' }
  },
}

export default definePlugin({
  manifest: {
    id: 'plugin.route-matrix-guard',
    version: '0.0.1',
    contract: 1,
    summary: 'Denies one word in every phase, and says in which.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    provides: [guard],
  },
  setup(ctx) {
    ctx.provide(guard, {
      compile: async () => ({
        global: policy,
        forRoute: () => policy,
        forServer: () => policy,
      }),
    })
  },
})
