/** What Bedrock says on the wire, its binary frames built by the encoder of its own SDK. */
import { createHash, createHmac } from 'node:crypto'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { argumentsOf, type Said, type SaidBlock } from './upstream-clouds-messages.ts'
import type { Reply } from './upstream-exchange.ts'
import { type Pace, streamed } from './upstream-replies.ts'
import type { WireRequest } from './upstream-wire.ts'

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
)

type Headers = Readonly<Record<string, string>>

/** A frame with string headers. */
export function frame(headers: Headers, payload: JsonValue | string): Uint8Array {
  return codec.encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }]),
    ),
    body: Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)),
  })
}

export function eventFrame(type: string, payload: JsonValue | string): Uint8Array {
  const headers = {
    ':event-type': type,
    ':content-type': 'application/json',
    ':message-type': 'event',
  }
  return frame(headers, payload)
}

export function exceptionFrame(type: string, payload: JsonValue): Uint8Array {
  const headers = {
    ':exception-type': type,
    ':content-type': 'application/json',
    ':message-type': 'exception',
  }
  return frame(headers, payload)
}

/** A binary event stream of these frames, and a proper end. */
export function framed(frames: readonly Uint8Array[], pace?: Pace): Reply {
  const headers = {
    'content-type': 'application/vnd.amazon.eventstream',
    'x-amzn-requestid': '8c9a2f6e-4e0b-4c54-9d6a-2f1b7c3d5e7f',
  }
  return streamed(headers, frames, pace)
}

export const converseUsage: JsonObject = { inputTokens: 24, outputTokens: 17, totalTokens: 41 }

/** Reply of Converse. */
export function converseReply({ blocks, stopReason, usage }: Said): JsonObject {
  return {
    output: { message: { role: 'assistant', content: blocks.map(converseBlock) } },
    stopReason,
    usage,
    metrics: { latencyMs: 551 },
  }
}

function converseBlock(block: SaidBlock): JsonObject {
  switch (block.kind) {
    case 'text':
      return { text: block.pieces.join('') }
    case 'thinking':
      return {
        reasoningContent: {
          reasoningText: { text: block.pieces.join(''), signature: block.signature },
        },
      }
    case 'redacted':
      return { reasoningContent: { redactedContent: block.data } }
    case 'tool':
      return {
        toolUse: { toolUseId: block.id, name: block.name, input: argumentsOf(block.pieces) },
      }
  }
}

/** The same as the frames of ConverseStream. Every payload carries padding, as the service's do. */
export function converseFrames({ blocks, stopReason, usage }: Said): Uint8Array[] {
  const event = (type: string, payload: JsonObject) =>
    eventFrame(type, { ...payload, p: 'abcdefghijklmn'.slice(0, 1 + (type.length % 14)) })
  const content = blocks.flatMap((block, contentBlockIndex) => {
    const delta = (value: JsonObject) =>
      event('contentBlockDelta', { contentBlockIndex, delta: value })
    const start =
      block.kind === 'tool'
        ? [
            event('contentBlockStart', {
              contentBlockIndex,
              start: { toolUse: { toolUseId: block.id, name: block.name } },
            }),
          ]
        : []
    return [
      ...start,
      ...converseDeltas(block).map(delta),
      event('contentBlockStop', { contentBlockIndex }),
    ]
  })
  return [
    event('messageStart', { role: 'assistant' }),
    ...content,
    event('messageStop', { stopReason }),
    event('metadata', { usage, metrics: { latencyMs: 551 } }),
  ]
}

function converseDeltas(block: SaidBlock): JsonObject[] {
  switch (block.kind) {
    case 'text':
      return block.pieces.map((text) => ({ text }))
    case 'thinking':
      return [
        ...block.pieces.map((text) => ({ reasoningContent: { text } })),
        { reasoningContent: { signature: block.signature } },
      ]
    case 'redacted':
      return [{ reasoningContent: { redactedContent: block.data } }]
    case 'tool':
      return block.pieces.map((input) => ({ toolUse: { input } }))
  }
}

/**
 * The scope of a request whose signature is right, worked out by the book from nothing but what
 * arrived; undefined for any other request. It must be younger than five minutes.
 */
export function signedScope(
  request: Pick<WireRequest, 'method' | 'path' | 'headers' | 'rawBody'>,
  credentials: { readonly accessKeyId: string; readonly secretAccessKey: string },
): { readonly region: string; readonly service: string } | undefined {
  const { method, path, headers, rawBody } = request
  const claim =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    )
  if (claim === null) return undefined
  const [, key, day = '', region = '', service = '', names = '', signature] = claim
  const date = headers['x-amz-date'] ?? ''
  const at = Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  const fresh = date.startsWith(day) && Math.abs(Date.now() - at) < 5 * 60_000
  const signed = names.split(';')
  const token = headers['x-amz-security-token']
  const required = ['host', 'x-amz-date', ...(token === undefined ? [] : ['x-amz-security-token'])]
  if (key !== credentials.accessKeyId || !fresh) return undefined
  if (!required.every((name) => signed.includes(name))) return undefined

  const hmac = (secret: string | Buffer, text: string) =>
    createHmac('sha256', secret).update(text).digest()
  const sha = (text: string) => createHash('sha256').update(text).digest('hex')
  const canonical = [
    method,
    encodeURIComponent(path).replaceAll('%2F', '/'),
    '',
    ...signed.map((name) => `${name}:${headers[name]?.trim().replace(/ +/g, ' ')}`),
    '',
    names,
    sha(rawBody),
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  let derived = hmac(`AWS4${credentials.secretAccessKey}`, day)
  for (const part of [region, service, 'aws4_request']) derived = hmac(derived, part)
  const text = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha(canonical)}`
  return hmac(derived, text).toString('hex') === signature ? { region, service } : undefined
}
