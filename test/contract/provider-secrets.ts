import { GatewayError, type JsonValue } from 'model-gateway/plugin'
import type { ProviderResult } from 'model-gateway/provider'
import { credentialForms, maskForms } from 'model-gateway/wire'
import {
  bytes,
  type Exchange,
  errorStatus,
  type JournalCall,
  json,
  type Reply,
} from '../harness/upstream.ts'
import { collectEvents } from './bench.ts'
import { textOf } from './kit.ts'

/** How vendors say that something went wrong; a kit adds the shapes of its own vendor. */
const shapes: readonly ((words: string) => JsonValue)[] = [
  (words) => ({ error: words }),
  (words) => ({ error: { message: words, type: words, code: words } }),
  (words) => ({ type: 'error', error: { type: 'overloaded_error', message: words } }),
  (words) => ({ message: words }),
  (words) => ({ detail: words }),
]

/** Texts in which an upstream may repeat a secret: as it is, and in every escaping. */
function repeated(secret: string): string {
  const units = [...secret].map((character) => character.charCodeAt(0).toString(16))
  const inJson = JSON.stringify(JSON.stringify({ secret }))
  return [
    secret,
    inJson,
    encodeURIComponent(secret),
    units.map((unit) => `\\u${unit.padStart(4, '0')}`).join(''),
    units.map((unit) => `%${unit.padStart(2, '0')}`).join(''),
    units.map((unit) => `&#x${unit};`).join(''),
    btoa(secret),
    btoa(`me:${secret}`),
    Buffer.from(secret).toString('hex'),
  ].join(' ')
}

/** Whether the upstream was sent the secret, however it was written. */
export function isSent({ path, headers, rawBody }: JournalCall, secret: string): boolean {
  return [path, rawBody, ...Object.values(headers)].some((text) => holds(text, secret))
}

function holds(text: string, secret: string): boolean {
  return maskForms(text, credentialForms([secret])) !== text
}

/** Replies that repeat secrets: refusals, their headers, errors with status 200, errors in a stream. */
export function repeatingReplies(
  secrets: readonly string[],
  reply: Reply,
  faults: (words: string) => readonly Reply[] = () => [],
): readonly Reply[] {
  const words = `refused: ${secrets.map(repeated).join(' ')}`
  const [secret = 'none'] = secrets
  const headers = {
    'content-type': 'application/json',
    'retry-after': secret,
    'retry-after-ms': secret,
    'x-request-id': secret,
    'x-should-retry': secret,
  }
  return [
    // Their very headers, whatever the provider made of the secret.
    (x) => errorStatus(401, `refused: ${JSON.stringify(x.call.headers)}`)(x),
    errorStatus(429, words, headers),
    bytes(words, 'text/plain', 500),
    ...shapes.flatMap((shape) => [
      json(shape(words), 400),
      json(shape(words)),
      brokenOff(reply, shape(words)),
    ]),
    ...faults(words),
  ]
}

/** The reply, with this behind the first piece of its stream and in the stream's own framing. */
function brokenOff(reply: Reply, fault: JsonValue): Reply {
  return async (x) => {
    let first: string | undefined
    const exchange: Exchange = {
      ...x,
      async write(piece) {
        if (first !== undefined) return
        first = typeof piece === 'string' ? piece : Buffer.from(piece).toString()
        await x.write(piece)
        const line = JSON.stringify(fault)
        await x.write(/^(?:data|event):/.test(first) ? `data: ${line}\n\n` : `${line}\n`)
      },
    }
    await reply(exchange)
  }
}

/** What of a call repeats a secret; nothing when all is well. */
export async function leaks(
  call: () => Promise<ProviderResult>,
  secrets: readonly string[],
): Promise<string[]> {
  const wrong: string[] = []
  const look = (where: string, text: string) => {
    if (secrets.some((secret) => holds(text, secret))) wrong.push(`${where} repeats a secret`)
  }
  try {
    const result = await call()
    if (result.kind === 'buffered') look('a reply', JSON.stringify(result.body))
    else for (const { data } of await collectEvents(result)) look('an event of a stream', data)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    look('the message of an error', error.message)
    look('the details or headers of an error', JSON.stringify([error.details, error.headers]))
    look('the cause of an error', textOf(error.cause))
  }
  return wrong
}
