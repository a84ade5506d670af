/** ApplyGuardrail on a loopback port. It verifies each signature with the vendor's own signer. */
import { SignatureV4 } from '@smithy/signature-v4'
import { NodeSha256 } from '../../../test/harness/node-sha256.ts'
import { type Received, type StandIn, startStandIn } from '../_shared/testing.ts'

interface Keys {
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

export interface GuardrailService extends StandIn {
  /** The valid keys by access key id. */
  keys: Readonly<Record<string, Keys>>
  /** The access key ids of the calls. */
  readonly callers: readonly string[]
}

const REGION = 'eu-west-1'

export function startGuardrailService(): GuardrailService {
  const callers: string[] = []
  const standIn = startStandIn(async (call) => {
    const claim = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/.*SignedHeaders=([^,]+),/.exec(
      call.headers.get('authorization') ?? '',
    )
    const [, id = '', signed = ''] = claim ?? []
    callers.push(id)
    const keys = service.keys[id]
    if (keys === undefined) return refusal('UnrecognizedClientException')
    const expected = await authorization(call, { ...keys, accessKeyId: id }, signed.split(';'))
    const good =
      call.headers.get('authorization') === expected &&
      (call.headers.get('x-amz-security-token') ?? undefined) === keys.sessionToken
    return good ? undefined : refusal('InvalidSignatureException')
  })
  const service: GuardrailService = Object.assign(standIn, { keys: {}, callers })
  return service
}

async function authorization(
  { method, path, headers, text }: Received,
  credentials: Keys & { accessKeyId: string },
  signed: readonly string[],
): Promise<string | undefined> {
  const stamp = headers.get('x-amz-date') ?? ''
  const at = stamp.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z')
  const host = headers.get('host') ?? ''
  const signer = new SignatureV4({
    region: REGION,
    service: 'bedrock',
    credentials,
    sha256: NodeSha256 as never,
    applyChecksum: false,
  })
  const own = signed.filter((name) => !['x-amz-date', 'x-amz-security-token'].includes(name))
  const result = await signer.sign(
    {
      method,
      protocol: 'http:',
      hostname: host,
      path,
      query: {},
      headers: Object.fromEntries(own.map((name) => [name, headers.get(name) ?? ''])),
      body: text,
    },
    { signingDate: new Date(at) },
  )
  return result.headers.authorization
}

function refusal(name: string): Response {
  return Response.json({ message: 'no' }, { status: 403, headers: { 'x-amzn-errortype': name } })
}
