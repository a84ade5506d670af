import {
  type GuardedContent,
  type GuardedOperation,
  type GuardPolicy,
  type GuardVerdict,
  guard,
} from 'model-gateway/guardrail'
import { definePlugin, Type } from 'model-gateway/plugin'

/** Every operation that was judged, in order. */
export const inspected: GuardedOperation[] = []

/** Bytes of a stream that are kept. */
export const BUFFER_BYTES = 20_000

const masked = (text: string) => text.replaceAll('SECRET', 'MASKED')

/** Denies FORBIDDEN, by a refusal where it says POLITE, masks SECRET, thinks about SLOW. */
async function judge(content: GuardedContent): Promise<GuardVerdict> {
  const text = JSON.stringify(content)
  if (text.includes('BROKEN')) throw new Error('the guard is broken')
  if (text.includes('SLOW')) await Bun.sleep(16_500)
  if (text.includes('FORBIDDEN')) {
    return {
      action: 'deny',
      decisionId: 'decision-1',
      reasonCode: 'keyword',
      message: 'denied by keyword',
      ...(text.includes('POLITE') && { refusal: 'denied politely' }),
    }
  }
  if (!text.includes('SECRET')) return { action: 'allow' }
  return content.kind === 'text'
    ? { action: 'allow', content: { ...content, segments: content.segments.map(masked) } }
    : content.kind === 'tool_calls'
      ? {
          action: 'allow',
          content: {
            ...content,
            calls: content.calls.map((call) => ({ ...call, arguments: masked(call.arguments) })),
          },
        }
      : { action: 'allow' }
}

const policy: GuardPolicy = {
  scope: 'global',
  streamBufferBytes: BUFFER_BYTES,
  streamBufferTimeoutMs: 1000,
  covers: () => true,
  inspect(operation) {
    inspected.push(operation)
    return judge(operation.content)
  },
}

/** Guards every route but those of the model `free`. */
export default definePlugin({
  manifest: {
    id: 'plugin.keyword-guard',
    version: '0.0.1',
    contract: 1,
    summary: 'A guard that knows two words.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    provides: [guard],
  },
  setup(ctx) {
    ctx.provide(guard, {
      compile: async () => ({
        global: policy,
        forRoute: (model) => (model === 'free' ? undefined : policy),
        forServer: () => policy,
      }),
    })
  },
})
