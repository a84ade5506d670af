import { definePlugin, type JsonObject, Type } from 'model-gateway/plugin'
import { type ProviderCall, type ProviderTypeSpec, providerFactories } from 'model-gateway/provider'
import { streamEvent } from 'model-gateway/wire'

const type = {
  type: 'native_echo',
  config: Type.Object({}),
  compatibility: Type.Object({}),
} satisfies ProviderTypeSpec

const usage = {
  input_tokens: 10,
  output_tokens: 20,
  cache_creation_input_tokens: 30,
  cache_read_input_tokens: 60,
  cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 0 },
  service_tier: 'standard',
}

/** What reached the provider, as a text of its reply, among blocks of other kinds. */
function message({ rawBody, headers }: ProviderCall): JsonObject {
  return {
    id: 'msg_native',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [
      { type: 'thinking', thinking: 'Let me see.', signature: 'sig' },
      { type: 'redacted_thinking', data: 'AA==' },
      { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'rivers' } },
      { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] },
      { type: 'text', text: JSON.stringify({ rawBody, headers }), citations: null },
    ],
    stop_reason: 'pause_turn',
    stop_sequence: null,
    container: { id: 'c1', expires_at: '2027-01-01T00:00:00Z' },
    usage,
  }
}

async function* events(call: ProviderCall) {
  const { content, stop_reason, container, ...begun } = message(call)
  const event = (type: string, members: JsonObject) => [
    streamEvent(JSON.stringify({ type, ...members }), type),
  ]
  yield event('message_start', { message: { ...begun, content: [], stop_reason: null } })
  yield event('ping', {})
  for (const [index, block] of (content as JsonObject[]).entries()) {
    yield event('content_block_start', { index, content_block: block })
    yield event('content_block_stop', { index })
  }
  yield event('message_delta', { delta: { stop_reason, stop_sequence: null, container }, usage })
  yield event('message_stop', {})
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
          pricing: { pricingProviderId: undefined, model: route.upstreamModel },
          execute: {
            chat_completions: () => Promise.reject(new Error('it is called as it speaks')),
            messages: async (call) =>
              call.stream
                ? { kind: 'stream', events: events(call) }
                : { kind: 'buffered', body: message(call) },
          },
        }),
      }),
    })
  },
})
