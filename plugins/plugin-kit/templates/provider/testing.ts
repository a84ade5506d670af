import { isJsonObject, Secret } from 'model-gateway/plugin'
import {
  bytes,
  errorStatus,
  html,
  json,
  type Pace,
  type Reply,
  redirect,
  resetBeforeHeaders,
  sse,
  testGoldenExchanges,
  testPlugin,
  testProvider,
} from 'model-gateway/testing'
import plugin from './src/index.ts'

const counts = { in: 24, out: 17 }

/** The vendor's answer: whole, or one line at a time. */
function vendor(pace: Pace): Reply {
  const lines = [{ text: 'Rivers' }, { text: ' run größer' }, { finish: 'end', counts }]
  const frames = lines.map((line) => `${JSON.stringify(line)}\n`)
  return (x) =>
    isJsonObject(x.call.body) && x.call.body.stream === true
      ? sse(frames, pace)(x)
      : json({ text: 'Rivers run größer', finish: 'end', counts })(x)
}

const config = (upstreamUrl: string) => ({
  base_url: upstreamUrl,
  api_key: new Secret('canary-4711'),
})

testPlugin({ plugin })

testProvider({
  plugin,
  type: 'sample_name',
  config,
  secrets: ['canary-4711'],
  upstream: {
    reply: vendor,
    malformed: [
      html,
      redirect,
      resetBeforeHeaders,
      errorStatus(500),
      bytes('{"text": "half', 'application/json'),
      bytes('null', 'application/json'),
      json({ text: 'without counts' }),
    ],
    faults: (words) => [
      json({ error: words }, 400),
      sse([`${JSON.stringify({ error: words })}\n`]),
    ],
  },
})

testGoldenExchanges({
  plugin,
  type: 'sample_name',
  config,
  secrets: ['canary-4711'],
  folder: `${import.meta.dir}/golden`,
})
