import { Secret } from 'model-gateway/plugin'
import {
  bytes,
  html,
  htmlError,
  json,
  jsonInsteadOfStream,
  type Pace,
  type Reply,
  redirect,
  resetBeforeHeaders,
  sse,
  testProvider,
} from 'model-gateway/testing'
import {
  converseFrames,
  converseReply,
  converseUsage,
  eventFrame,
  exceptionFrame,
  framed,
} from '../../test/harness/upstream-clouds-aws.ts'
import {
  messagesFrames,
  messagesReply,
  messagesUsage,
  type Said,
} from '../../test/harness/upstream-clouds-messages.ts'
import plugin from './index.ts'

const said: Said = {
  blocks: [
    { kind: 'thinking', pieces: ['Rivers', '… downhill'], signature: 'c2ln' },
    { kind: 'text', pieces: ['They ', 'run ', 'größer', ' — 海'] },
    { kind: 'tool', id: 'tooluse_1', name: 'weather', pieces: ['{"city":', '"Oslo"}'] },
  ],
  stopReason: 'tool_use',
  usage: {},
}
const unified = { ...said, usage: converseUsage }
const native = { ...said, usage: messagesUsage }

const staticAuth = {
  mode: 'static',
  access_key_id: new Secret('AKIACANARY4711'),
  secret_access_key: new Secret('canary-secret-4711'),
  session_token: new Secret('canary-session-4711'),
}
const secrets = ['AKIACANARY4711', 'canary-secret-4711', 'canary-session-4711', 'canary-key-4711']

function config(auth: unknown) {
  return (upstreamUrl: string) => ({
    region: 'us-east-1',
    endpoint_url: new URL(upstreamUrl).origin,
    auth,
  })
}

function style(profile: Record<string, string>) {
  return { compatibility: { cloud_b_ml: profile }, upstreamModel: 'anthropic.claude-opus-4-8' }
}

const notReplies = [
  html,
  htmlError,
  redirect,
  resetBeforeHeaders,
  jsonInsteadOfStream,
  bytes('', 'application/json', 500),
  bytes('[1, 2', 'application/json', 400),
  bytes('null', 'application/json'),
]

testProvider({
  plugin,
  type: 'cloud_b_ml',
  config: config(staticAuth),
  route: style({ api_style: 'runtime_unified' }),
  secrets,
  upstream: {
    reply:
      (pace: Pace): Reply =>
      (x) =>
        x.call.path.endsWith('/converse-stream')
          ? framed(converseFrames(unified), pace)(x)
          : json(converseReply(unified))(x),
    malformed: [
      ...notReplies,
      framed([]),
      framed(converseFrames(unified).slice(0, 3)),
      framed([Buffer.concat(converseFrames(unified)).subarray(0, 300)]),
      framed([eventFrame('messageStart', '[]')]),
      framed([exceptionFrame('throttlingException', { message: 'slow down' })]),
      framed([Buffer.from('data: {}\n\n')]),
    ],
  },
})

const nativeWire = {
  reply:
    (pace: Pace): Reply =>
    (x) =>
      x.call.rawBody.includes('"stream":true')
        ? sse(messagesFrames(native), pace)(x)
        : json(messagesReply(native))(x),
  malformed: [
    ...notReplies,
    sse([]),
    sse(messagesFrames(native).slice(0, 4)),
    sse(['data: {"type":"message_start"}\n\n']),
    sse(['data: oops\n\n']),
    sse([Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0x0a, 0x0a])]),
  ],
}

testProvider({
  plugin,
  type: 'cloud_b_ml',
  config: config({ mode: 'bearer', token: new Secret('canary-key-4711') }),
  route: {
    ...style({ api_style: 'edge_native_messages' }),
    extraBody: { max_tokens: 100 },
  },
  secrets,
  upstream: nativeWire,
})
