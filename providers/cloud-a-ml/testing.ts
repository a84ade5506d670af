/** The provider, alone or in a gateway, against a Google Cloud of this test's own. */

import type { JsonObject } from 'model-gateway/plugin'
import type { ProviderResult, RouteSpec } from 'model-gateway/provider'
import { providerCall, setUpProvider } from 'model-gateway/testing'
import { eventually, startTestGateway } from '../../test/harness/gateway.ts'
import { type GoogleCloud, startGoogleCloud } from '../../test/harness/upstream-clouds-google.ts'
import plugin from './index.ts'

export async function startVertex(config: JsonObject = {}, headers: Record<string, string> = {}) {
  const cloud = startGoogleCloud()
  const bench = await setUpProvider({
    plugin,
    type: 'cloud_a_ml',
    config: {
      project_id: 'demo-project',
      api_host: cloud.url,
      auth: { mode: 'service_account', credentials_file: cloud.serviceAccountFile() },
      ...config,
    },
    settings: { defaultHeaders: headers },
  })
  return {
    cloud,
    bench,
    async run(
      upstreamModel: string,
      body: JsonObject,
      route: Partial<RouteSpec> = {},
      dialect = 'chat_completions',
    ): Promise<ProviderResult> {
      const execute = bench.bind({ upstreamModel, ...route }).execute[dialect]
      if (execute === undefined) throw new Error(`${upstreamModel} does not execute ${dialect}`)
      return execute(providerCall({ model: 'asked', ...body }))
    },
    async stop() {
      await bench.dispose()
      await cloud.stop()
    },
  }
}

/** A whole gateway in front of a Google Cloud, with a route to it for each model. */
export async function startVertexGateway(
  routes: Readonly<Record<string, JsonObject>>,
  config: JsonObject = {},
) {
  const cloud = startGoogleCloud()
  const gateway = await startTestGateway({
    providers: [
      {
        id: 'vertex',
        type: 'vertex_ai',
        project_id: 'demo-project',
        api_host: cloud.url,
        auth: { mode: 'service_account', credentials_file: cloud.serviceAccountFile() },
      },
    ],
    models: Object.entries(routes).map(([id, route]) => ({
      id,
      routes: [{ provider: 'vertex', ...route }],
    })),
    ...config,
  })
  return {
    cloud,
    gateway,
    /** What the call was charged. */
    ledgerRow: (requestId: string) =>
      eventually(async () => {
        const [row] = await gateway.sql`
          SELECT pricing_status, cost_pico_usd::text AS cost, prompt_tokens::int AS prompt,
                 completion_tokens::int AS completion
          FROM accounting.usage_cost_events WHERE request_id = ${requestId}`
        return row
      }),
    async stop() {
      await gateway.stop()
      await cloud.stop()
    },
  }
}

export function bodyOf(result: ProviderResult): JsonObject {
  if (result.kind !== 'buffered') throw new Error('the reply is a stream')
  return result.body
}

/** The body of the last call that the API took. */
export function lastBody({ calls }: GoogleCloud): JsonObject {
  const call = calls.at(-1)
  if (call === undefined) throw new Error('nothing arrived')
  return call.body
}

/** An event stream as the service sends it, from the text of one. */
export function eventStream(
  body: Exclude<ConstructorParameters<typeof Response>[0], null>,
): Response {
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
}
