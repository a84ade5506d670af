import { Secret } from 'model-gateway/plugin'
import {
  bytes,
  halfEvent,
  html,
  htmlError,
  invalidUtf8,
  json,
  type Pace,
  type Reply,
  redirect,
  resetBeforeHeaders,
  resetMidStream,
  sse,
  testProvider,
} from 'model-gateway/testing'
import plugin from './index.ts'

const folder = `${import.meta.dir}/../_shared/__fixtures__/google-tools`
const buffered = await Bun.file(`${folder}.json`).text()
const frames = (await Bun.file(`${folder}.sse`).text()).split(/(?<=\n\r?\n)/)

const content =
  (pace: Pace): Reply =>
  (x) =>
    (x.call.path.includes(':stream') ? sse(frames, pace) : bytes(buffered, 'application/json'))(x)

/** A vector for each text: https://ai.google.dev/api/embeddings */
const vectors = (): Reply => (x) => {
  const { requests } = x.call.body as { requests: unknown[] }
  const embeddings = requests.map(() => ({ values: [0.25, -0.5] }))
  return json({ embeddings, usageMetadata: { promptTokenCount: 2 * requests.length } })(x)
}

const malformed = [
  ...[html, htmlError, redirect, halfEvent, invalidUtf8, resetBeforeHeaders, resetMidStream()],
  bytes('', 'text/event-stream', 500),
  bytes('[1, 2', 'application/json', 400),
  bytes('null', 'application/json'),
]

for (const [upstreamModel, reply] of [
  ['gemini-3.5-flash', content],
  ['gemini-embedding-001', vectors],
] as const) {
  testProvider({
    plugin,
    type: 'gemini',
    config: (upstreamUrl) => ({
      base_url: new URL(upstreamUrl).origin,
      api_key: new Secret('canary-4711'),
    }),
    secrets: ['canary-4711'],
    route: { upstreamModel },
    upstream: { reply, malformed },
  })
}
