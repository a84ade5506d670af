/** A provider that breaks the rules of the kit; `provider.test.ts` runs the kit on it. */
import {
  definePlugin,
  GatewayError,
  type JsonValue,
  Secret,
  SecretRef,
  Type,
} from 'model-gateway/plugin'
import { type Execute, type ProviderFactory, providerFactories } from 'model-gateway/provider'
import { testProvider } from 'model-gateway/testing'
import { streamEvent } from 'model-gateway/wire'

const configSchema = Type.Object(
  { url: Type.String(), token: SecretRef() },
  { additionalProperties: true },
)

const plugin = definePlugin({
  manifest: {
    id: 'provider.faulty',
    version: '1.0.0',
    contract: 1,
    summary: 'Breaks the rules',
    config: Type.Object({}, { additionalProperties: false }),
    providerTypes: [{ type: 'faulty', config: configSchema, compatibility: Type.Object({}) }],
    needs: [],
  },
  setup(ctx) {
    const factory: ProviderFactory<typeof configSchema> = {
      type: 'faulty',
      create(config) {
        let disposed = false
        const send: Execute = async (call) => {
          call.body.model = 'changed'
          return call.stream ? stream(config.url) : buffered(config.url, config.token)
        }
        return {
          bind: () => ({
            supports: ['stream'],
            pricing: { pricingProviderId: undefined, model: 'm' },
            execute: {
              chat_completions: send,
              responses: async (call) =>
                call.stream ? stream(config.url) : buffered(config.url, config.token),
            },
          }),
          dispose() {
            if (disposed) throw new Error('disposed twice')
            disposed = true
          },
        }
      },
    }
    ctx.provide(providerFactories, factory)
  },
})
export default plugin

/** No abort signal, no check of the reply, the token in the error. */
async function buffered(url: string, token: Secret) {
  const response = await fetch(`${url}/responses`, { method: 'POST', body: '{}' })
  if (response.status === 401) throw new GatewayError('upstream_http_error', token.reveal())
  const { output } = (await response.json()) as { output: JsonValue }
  return { kind: 'buffered' as const, body: { output } }
}

/** One event a chunk, wherever the chunk was cut, and deaf to whoever leaves. */
async function stream(url: string) {
  const response = await fetch(`${url}/responses`, { method: 'POST', body: '{"stream":true}' })
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  return {
    kind: 'stream' as const,
    events: {
      [Symbol.asyncIterator]: () => ({
        async next() {
          const piece = await reader?.read()
          if (piece === undefined || piece.done) return { done: true as const, value: undefined }
          return { done: false as const, value: [streamEvent(decoder.decode(piece.value))] }
        },
      }),
    },
  }
}

testProvider({
  plugin,
  type: 'faulty',
  config: (url) => ({ url, token: new Secret('canary-0815') }),
  secrets: ['canary-0815'],
})
