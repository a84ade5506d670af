import { createHash, createHmac } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import type { AwsCredentialSource, AwsCredentials } from './aws-credentials.ts'

type Headers = Readonly<Record<string, string>>

export interface AwsRequest {
  readonly method: string
  /** The URL as sent: the signature encodes its path once more. */
  readonly url: string
  /** Headers to sign, in addition to `host` and the headers that signing adds. */
  readonly headers: Headers
  readonly body: string
}

export interface AwsScope {
  readonly region: string
  readonly service: string
}

/**
 * The headers that sign a request: `authorization`, `x-amz-date`, `x-amz-security-token`. `key` is
 * the cached signing key for the credentials, day and scope.
 */
export function signAws(
  request: AwsRequest,
  scope: AwsScope,
  credentials: AwsCredentials,
  at: Date,
  key = signingKey(credentials, dayOf(at), scope),
): Headers {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  const date = at.toISOString().replace(/[:-]|\.\d{3}/g, '')
  const signer = new AwsV4Signer({
    ...request,
    ...scope,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    datetime: date,
    allHeaders: true,
  })
  // `node:crypto`, because the signer's default hashes use WebCrypto, which is many times slower.
  const canonical = [
    signer.method,
    signer.encodedPath,
    signer.encodedSearch,
    signer.canonicalHeaders,
    '',
    signer.signedHeaders,
    sha256(request.body),
  ].join('\n')
  const text = [ALGORITHM, date, signer.credentialString, sha256(canonical)].join('\n')
  const signature = createHmac('sha256', key).update(text).digest('hex')
  return {
    authorization: `${ALGORITHM} Credential=${accessKeyId}/${signer.credentialString}, SignedHeaders=${signer.signedHeaders}, Signature=${signature}`,
    'x-amz-date': date,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  }
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10).replaceAll('-', '')
}

function signingKey(
  { secretAccessKey }: AwsCredentials,
  day: string,
  { region, service }: AwsScope,
): Buffer {
  let key = Buffer.from(`AWS4${secretAccessKey}`)
  for (const part of [day, region, service, 'aws4_request']) {
    key = createHmac('sha256', key).update(part).digest()
  }
  return key
}

/** Signs POST requests for one service in one region. */
export function createAwsSigner(scope: AwsScope, source: AwsCredentialSource, now: () => Date) {
  const signedWith = new WeakMap<Headers, AwsCredentials>()
  let last: { credentials: AwsCredentials; day: string; key: Buffer } | undefined

  function keyFor(credentials: AwsCredentials, day: string): Buffer {
    if (last === undefined || last.credentials !== credentials || last.day !== day) {
      last = { credentials, day, key: signingKey(credentials, day, scope) }
    }
    return last.key
  }

  function sign(
    { url, headers, body }: Omit<AwsRequest, 'method'>,
    credentials: AwsCredentials,
  ): Headers {
    const at = now()
    const request = { method: 'POST', url, headers: signable(headers), body }
    const signed = signAws(request, scope, credentials, at, keyFor(credentials, dayOf(at)))
    signedWith.set(signed, credentials)
    return signed
  }

  return {
    credentials(request: Omit<AwsRequest, 'method'>): Headers | Promise<Headers> {
      const credentials = source.get()
      return credentials instanceof Promise
        ? credentials.then((loaded) => sign(request, loaded))
        : sign(request, credentials)
    },
    refused(signed: Headers): void {
      const credentials = signedWith.get(signed)
      if (credentials !== undefined) source.refused(credentials)
    },
  }
}

/** AWS requires its own headers to be signed; proxies may change others. */
function signable(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-amz-')))
}

/** Headers that signing sets; a configured value would conflict. */
const RESERVED = new Set(['authorization', 'x-api-key', 'x-amz-date', 'x-amz-security-token'])

/** Configured headers without authentication headers; names in lower case. */
export function withoutCredentials(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !RESERVED.has(name)))
}
