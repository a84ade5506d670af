import { isJsonObject, type JsonValue, Secret } from 'model-gateway/plugin'
import {
  bytes,
  halfEvent,
  html,
  htmlError,
  invalidUtf8,
  json,
  jsonInsteadOfStream,
  type Pace,
  type Reply,
  redirect,
  resetBeforeHeaders,
  resetMidStream,
  sse,
  testProvider,
} from 'model-gateway/testing'
import plugin from './index.ts'

const malformed = [
  html,
  htmlError,
  redirect,
  jsonInsteadOfStream,
  halfEvent,
  invalidUtf8,
  resetBeforeHeaders,
  resetMidStream(),
  bytes('', 'text/event-stream', 500),
  bytes('[1, 2', 'application/json', 400),
  bytes('null', 'application/json'),
]

/** What a real upstream says, buffered or streamed as the path asks for. */
async function fixture(path: string): Promise<(pace: Pace) => Reply> {
  const buffered = await Bun.file(`${import.meta.dir}/${path}.json`).text()
  const streamed = await Bun.file(`${import.meta.dir}/${path}.sse`).text()
  const frames = streamed.split(/(?<=\n\r?\n)/)
  return (pace) => (x) =>
    x.call.path.includes(':stream')
      ? sse(frames, pace)(x)
      : bytes(buffered, 'application/json; charset=UTF-8')(x)
}

function predict(): Reply {
  return (x) => {
    const instances = isJsonObject(x.call.body) ? (x.call.body.instances as JsonValue[]) : []
    const statistics = { token_count: 2, truncated: false }
    return json({
      predictions: instances.map(() => ({ embeddings: { values: [0.25, -0.5], statistics } })),
    })(x)
  }
}

for (const [upstreamModel, reply] of [
  ['google/gemini-2.5-flash', await fixture('../_shared/__fixtures__/google-text')],
  ['google/gemini-3.5-flash', await fixture('../_shared/__fixtures__/google-tools')],
  ['anthropic/claude-sonnet-4-6', await fixture('../_shared/__fixtures__/messages-tools')],
  ['google/text-embedding-005', predict],
] as const) {
  testProvider({
    plugin,
    type: 'cloud_a_ml',
    config: (upstreamUrl) => ({
      project_id: 'demo-project',
      api_host: new URL(upstreamUrl).origin,
      auth: { mode: 'bearer', token: new Secret('canary-4711') },
    }),
    secrets: ['canary-4711'],
    route: { upstreamModel },
    upstream: { reply, malformed },
  })
}
