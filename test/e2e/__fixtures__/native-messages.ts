import { definePlugin, type JsonObject, Type } from 'model-gateway/plugin'
import { type ProviderCall, type ProviderTypeSpec, providerFactories } from 'model-gateway/provider'
import { type NativeMessages, streamEvent } from 'model-gateway/wire'

const type = {
  type: 'native_echo',
  config: Type.Object({}),
  compatibility: Type.Object({}),
} satisfies ProviderTypeSpec

/** What reached the provider, as the text of its reply. */
function received({ body, rawBody, original }: ProviderCall): string {
  const messages = original as NativeMessages | undefined
  return JSON.stringify({
    body,
    rawBody,
    messages: messages && {
      ...messages,
      failedToolCalls: [...messages.failedToolCalls],
      cacheControl: Object.fromEntries(messages.cacheControl),
      members: Object.fromEntries(messages.members),
    },
  })
}

const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
}

function metadata(source: string, blocks: JsonObject[]): JsonObject {
  return { provider_metadata: { cloud_b_ml: { reasoning: { source, blocks } } } }
}

function completion(call: ProviderCall): JsonObject {
  const thinking = { type: 'thinking', thinking: 'Let me see.', signature: 'sig' }
  const message = {
    content: received(call),
    ...metadata('anthropic_messages', [thinking, { type: 'redacted_thinking', data: 'AA==' }]),
  }
  return { id: 'msg_native', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
}

async function* chunks(call: ProviderCall) {
  const source = 'anthropic_messages_stream'
  const deltas: JsonObject[] = [
    { role: 'assistant', content: '' },
    metadata(source, [{ type: 'thinking_delta', thinking: 'Let me ' }]),
    metadata(source, [{ type: 'thinking_delta', thinking: 'see.' }]),
    metadata(source, [{ type: 'signature_delta', signature: 'sig' }]),
    metadata(source, [{ type: 'redacted_thinking', data: 'AA==' }]),
    { content: received(call) },
  ]
  const chunk = (members: JsonObject) => [
    streamEvent(JSON.stringify({ id: 'msg_native', ...members })),
  ]
  for (const delta of deltas) {
    yield chunk({ choices: [{ index: 0, delta, finish_reason: null }] })
  }
  yield chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  yield chunk({ choices: [], usage })
  yield [streamEvent('[DONE]')]
}

/** A provider on whose routes the messages API is native. */
export default definePlugin({
  manifest: {
    id: 'test.native-echo',
    version: '1.0.0',
    contract: 1,
    summary: 'Says what it received.',
    config: Type.Object({}),
    needs: [],
    providerTypes: [type],
  },
  setup(context) {
    context.provide(providerFactories, {
      type: 'native_echo',
      create: () => ({
        bind: (route) => ({
          supports: ['stream', 'tools', 'vision'],
          reads: ['messages'],
          pricing: { pricingProviderId: undefined, model: route.upstreamModel },
          execute: {
            chat_completions: async (call) =>
              call.stream
                ? { kind: 'stream', events: chunks(call) }
                : { kind: 'buffered', body: completion(call) },
          },
        }),
      }),
    })
  },
})
