import {
  type Disposer,
  GatewayError,
  isJsonObject,
  type JsonObject,
  type Plugin,
} from 'model-gateway/plugin'
import {
  type BoundRoute,
  type Egress,
  type Provider,
  type ProviderCall,
  type ProviderFactory,
  type ProviderResult,
  type ProviderSettings,
  providerFactories,
  type RouteSpec,
} from 'model-gateway/provider'
import type { Dialect } from 'model-gateway/surface'
import { chatDialect, type StreamEvent } from 'model-gateway/wire'
import pino from 'pino'
import { createEgress } from '../../kernel/egress/egress.ts'
import { noTelemetry } from '../harness/telemetry.ts'

export interface BenchOptions {
  // biome-ignore lint/suspicious/noExplicitAny: each plugin has its own config and capabilities
  readonly plugin: Plugin<any, any>
  /** Provider type, as the plugin's manifest names it. */
  readonly type: string
  /** The type's own fields of a provider, secrets as `Secret`. */
  readonly config: unknown
  readonly settings?: Partial<ProviderSettings>
  /** Default: the real one. */
  readonly egress?: Egress
}

/** One configured provider, set up without a gateway around it. */
export interface ProviderBench {
  readonly provider: Provider
  /** A route with every capability on; `route` overrides fields of it. */
  bind(route?: Partial<RouteSpec>): BoundRoute
  dispose(): Promise<void>
}

/** Sets a provider plugin up with a real clock, and creates one provider of it. */
export async function setUpProvider(options: BenchOptions): Promise<ProviderBench> {
  const { plugin, type, config } = options
  const settings = { id: 'bench', defaultHeaders: {}, pricingProviderId: undefined }
  const shutdown = new AbortController()
  const factories: ProviderFactory[] = []
  const disposer = (await plugin.setup({
    config: {},
    uses: {},
    log: pino({ level: 'silent' }),
    signal: shutdown.signal,
    ...noTelemetry,
    egress: options.egress ?? createEgress(undefined),
    clock: { now: () => new Date() },
    provide(point: { name: string }, implementation: unknown) {
      if (point.name === providerFactories.name) factories.push(implementation as ProviderFactory)
    },
  })) as Disposer | undefined
  const factory = factories.find((candidate) => candidate.type === type)
  if (factory === undefined)
    throw new Error(`${plugin.manifest.id} provides no factory for ${type}`)
  const provider = await factory.create(config as never, { ...settings, ...options.settings })
  return {
    provider,
    bind: (route) => provider.bind({ ...benchRoute, ...route }),
    async dispose() {
      await provider.dispose?.()
      shutdown.abort()
      await disposer?.()
    },
  }
}

export const benchRoute: RouteSpec = {
  id: 'asked/bench/upstream-model',
  model: 'asked',
  provider: 'bench',
  upstreamModel: 'upstream-model',
  priority: 100,
  weight: 1,
  enabled: true,
  capabilities: {
    chat_completions: true,
    responses: true,
    embeddings: true,
    stream: true,
    tools: true,
    vision: true,
    json_schema: true,
  },
  extraHeaders: {},
  extraBody: {},
  compatibility: {},
}

export interface BenchCall extends ProviderCall {
  /** What the provider has told that it left out. */
  readonly leftOut: string[]
  abort(): void
}

/** A call with this body, given as an object or as the caller's very text. The body is frozen. */
export function providerCall(body: JsonObject | string, dialect: Dialect = chatDialect): BenchCall {
  const rawBody = typeof body === 'string' ? body : JSON.stringify(body)
  const parsed = deepFreeze(JSON.parse(rawBody) as JsonObject)
  const controller = new AbortController()
  const leftOut: string[] = []
  return {
    requestId: 'bench-request',
    surface: dialect.id,
    dialect,
    body: parsed,
    rawBody,
    stream: parsed.stream === true,
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    maxResponseBytes: 2 ** 26,
    signal: controller.signal,
    alive() {},
    answered() {},
    leftOut,
    dropped: (name) => void leftOut.push(name),
    abort: () => controller.abort(new GatewayError('upstream_timeout', 'the bench ended the call')),
  }
}

/** All events of a stream; throws when the result is buffered. */
export async function collectEvents(result: ProviderResult): Promise<StreamEvent[]> {
  if (result.kind !== 'stream') throw new Error('the result is not a stream')
  const events: StreamEvent[] = []
  for await (const batch of result.events) events.push(...batch)
  return events
}

/** The last `usage` in the events of a chat or responses stream. */
export function streamedUsage(events: readonly StreamEvent[]): JsonObject | undefined {
  let usage: JsonObject | undefined
  for (const event of events) {
    const data = event.data === '[DONE]' ? undefined : event.json()
    if (!isJsonObject(data)) continue
    const found = data.usage ?? (isJsonObject(data.response) ? data.response.usage : undefined)
    if (isJsonObject(found)) usage = found
  }
  return usage
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
