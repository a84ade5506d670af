/** A pack in TypeScript that denies nothing. */
export const neverPack = `import { guardrailPacks } from 'model-gateway/guardrail'
import { definePlugin, Type } from 'model-gateway/plugin'
const facts = { id: 'custom.never', version: '1', summary: 'Never denies.', phases: ['prompt'] as const }
export default definePlugin({
  manifest: {
    id: 'pack.never',
    version: '1.0.0',
    contract: 1,
    summary: 'Never denies.',
    config: Type.Object({}),
    needs: [],
    declares: [{ point: guardrailPacks, spec: facts }],
  },
  setup(ctx) {
    ctx.provide(guardrailPacks, { ...facts, rules: [], evaluate: () => undefined })
  },
})
`

/** A provider in TypeScript with a dependency. `typebox` is the line that imports `Type`. */
export function providerText(type: string, typebox: string): string {
  return `${typebox}
import { mark } from 'marks'
import { definePlugin, GatewayError } from 'model-gateway/plugin'
import { providerFactories, type Provider, type ProviderCall } from 'model-gateway/provider'

const create = (): Provider => ({
  bind: (route) => ({
    supports: [],
    pricing: { pricingProviderId: undefined, model: route.upstreamModel },
    execute: {
      async chat_completions(call: ProviderCall) {
        const [{ content }] = call.body.messages as unknown as [{ content: string }]
        if (content === 'refuse') throw new GatewayError('invalid_request', 'not this')
        const message = { role: 'assistant', content: content + mark }
        const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
        const choices = [{ index: 0, message, finish_reason: 'stop' }]
        return { kind: 'buffered', body: { id: '1', object: 'chat.completion', choices, usage } }
      },
    },
  }),
})

export default definePlugin({
  manifest: {
    id: 'provider.${type}',
    version: '1.0.0',
    contract: 1,
    summary: 'Says it again.',
    config: Type.Object({}),
    needs: [],
    providerTypes: [{ type: '${type}', config: Type.Object({}), compatibility: Type.Object({}) }],
  },
  setup(ctx) {
    ctx.provide(providerFactories, { type: '${type}', create })
  },
})
`
}
