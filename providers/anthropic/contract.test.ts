import { Secret } from 'model-gateway/plugin'
import {
  bytes,
  halfEvent,
  html,
  htmlError,
  invalidUtf8,
  type Pace,
  type Reply,
  redirect,
  resetBeforeHeaders,
  resetMidStream,
  sse,
  testProvider,
} from 'model-gateway/testing'
import plugin from './index.ts'

const folder = `${import.meta.dir}/../_shared/__fixtures__/messages-tools`
const buffered = await Bun.file(`${folder}.json`).text()
const frames = (await Bun.file(`${folder}.sse`).text()).split(/(?<=\n\r?\n)/)

const reply =
  (pace: Pace): Reply =>
  (x) => {
    const streams = (x.call.body as { stream?: boolean }).stream === true
    return (streams ? sse(frames, pace) : bytes(buffered, 'application/json'))(x)
  }

testProvider({
  plugin,
  type: 'anthropic',
  config: (upstreamUrl) => ({ base_url: upstreamUrl, api_key: new Secret('canary-4711') }),
  secrets: ['canary-4711'],
  route: { upstreamModel: 'claude-sonnet-4-6' },
  upstream: {
    reply,
    malformed: [
      html,
      htmlError,
      redirect,
      halfEvent,
      invalidUtf8,
      resetBeforeHeaders,
      resetMidStream(),
      bytes('', 'text/event-stream', 500),
      bytes('[1, 2', 'application/json', 400),
      bytes('null', 'application/json'),
    ],
    // https://docs.claude.com/en/api/errors
    faults: (message) => {
      const error = { type: 'error', error: { type: 'overloaded_error', message } }
      return [bytes(JSON.stringify(error), 'application/json', 529)]
    },
  },
})
