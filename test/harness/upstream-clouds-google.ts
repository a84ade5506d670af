/** Google Cloud on a loopback port: tokens, metadata and an API, each checking what it is sent. */
import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { strictRefusal } from './strict-clouds.ts'

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const KEY_ID = 'key-1'
const ACCOUNT = 'gateway@demo-project.iam.gserviceaccount.com'

// Making one takes long, and one is as good as another.
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
const otherKeys = generateKeyPairSync('rsa', { modulusLength: 2048 })

export interface ApiCall {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Headers
  readonly body: JsonObject
  /** What its token was made for: the audience of an ID token, undefined for an access token. */
  readonly audience: string | undefined
}

export interface GoogleCloud {
  /** `http://127.0.0.1:port` */
  readonly url: string
  /** `127.0.0.1:port` */
  readonly host: string
  /** A service account's key file; `forged` makes one that somebody else signed. */
  serviceAccountFile(options?: { forged?: boolean }): string
  authorizedUserFile(): string
  /** A file with this content. */
  file(content: string): string
  /** A folder for files with names of their own. */
  readonly folder: string
  /** Where each token came from, in order. */
  readonly issued: readonly string[]
  /** The tokens themselves. */
  readonly tokens: readonly string[]
  readonly calls: readonly ApiCall[]
  /** Lifetime of new tokens; null leaves `expires_in` out. */
  lifetime: number | null
  /** Answers for token and metadata requests instead of tokens. */
  fault: (() => Response | Promise<Response>) | undefined
  /** Answers calls whose token was right and whose body the service takes. */
  answer: (call: ApiCall) => Response | Promise<Response>
  /** Makes all tokens issued so far worthless. */
  revoke(): void
  clear(): void
  stop(): Promise<void>
}

export function startGoogleCloud(): GoogleCloud {
  const folder = mkdtempSync(join(tmpdir(), 'google-cloud-'))
  let issued: string[] = []
  let tokens: string[] = []
  let calls: ApiCall[] = []
  /** Audience and expiry of the tokens that are good. */
  const good = new Map<string, { audience: string | undefined; expiresAt: number }>()
  let files = 0
  let count = 0

  function issue(source: string, audience: string | undefined): string {
    issued.push(source)
    count++
    const lifetime = cloud.lifetime ?? 3600
    const exp = Math.floor(Date.now() / 1000) + lifetime
    const token = audience === undefined ? `ya29.${source}-${count}` : idToken(audience, exp, count)
    tokens.push(token)
    good.set(token, { audience, expiresAt: exp * 1000 })
    return token
  }

  function accessAnswer(source: string): Response {
    const expiry = cloud.lifetime === null ? {} : { expires_in: cloud.lifetime }
    return Response.json({
      access_token: issue(source, undefined),
      token_type: 'Bearer',
      ...expiry,
    })
  }

  async function token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text())
    if (cloud.fault !== undefined) return cloud.fault()
    if (form.get('grant_type') === 'refresh_token') {
      const right =
        form.get('refresh_token') === 'refresh-canary' &&
        form.get('client_id') === 'client-1' &&
        form.get('client_secret') === 'client-secret-canary'
      return right ? accessAnswer('authorized_user') : refusal('invalid_grant', 'Bad Request')
    }
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
      return refusal('unsupported_grant_type', 'Unknown')
    }
    const claims = verifiedClaims(form.get('assertion') ?? '', `${cloud.url}/token`)
    if (claims === undefined) return refusal('invalid_grant', 'Invalid JWT Signature.')
    if (claims.scope === SCOPE) return accessAnswer('service_account')
    if (typeof claims.target_audience !== 'string') return refusal('invalid_scope', 'No scope')
    return Response.json({ id_token: issue('service_account', claims.target_audience) })
  }

  function metadata(request: Request, url: URL): Response | Promise<Response> {
    if (request.headers.get('metadata-flavor') !== 'Google') {
      return new Response('Missing Metadata-Flavor:Google header.', { status: 403 })
    }
    if (cloud.fault !== undefined) return cloud.fault()
    const base = '/computeMetadata/v1/instance/service-accounts/default/'
    const audience = url.searchParams.get('audience')
    if (url.pathname === `${base}token` && url.searchParams.get('scopes') === SCOPE) {
      return accessAnswer('metadata')
    }
    if (
      url.pathname === `${base}identity` &&
      audience &&
      url.searchParams.get('format') === 'full'
    ) {
      return new Response(issue('metadata', audience))
    }
    return new Response('not found', { status: 404 })
  }

  async function api(request: Request, url: URL): Promise<Response> {
    const { headers, method } = request
    const presented =
      headers.get('x-serverless-authorization') ?? headers.get('authorization') ?? ''
    const known = good.get(presented.replace(/^Bearer /, ''))
    if (known === undefined || known.expiresAt <= Date.now()) return unauthenticated()
    if (known.audience !== undefined && known.audience !== cloud.url) return unauthenticated()
    const call = {
      method,
      path: url.pathname + url.search,
      headers,
      body: (await request.json()) as JsonObject,
      audience: known.audience,
    }
    calls.push(call)
    const strict = strictRefusal(call.path, call.body)
    if (strict !== undefined) return Response.json(strict.json, { status: strict.status })
    return cloud.answer(call)
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const url = new URL(request.url)
      if (url.pathname === '/token') return token(request)
      if (url.pathname.startsWith('/computeMetadata/')) return metadata(request, url)
      return api(request, url)
    },
  })

  function file(content: string): string {
    const path = join(folder, `file-${++files}.json`)
    writeFileSync(path, content)
    return path
  }

  const cloud: GoogleCloud = {
    url: `http://127.0.0.1:${server.port}`,
    host: `127.0.0.1:${server.port}`,
    folder,
    file,
    serviceAccountFile({ forged = false } = {}) {
      const { privateKey } = forged ? otherKeys : keys
      return file(
        JSON.stringify({
          type: 'service_account',
          project_id: 'demo-project',
          private_key_id: KEY_ID,
          private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
          client_email: ACCOUNT,
          token_uri: `${cloud.url}/token`,
        }),
      )
    },
    authorizedUserFile() {
      return file(
        JSON.stringify({
          type: 'authorized_user',
          client_id: 'client-1',
          client_secret: 'client-secret-canary',
          refresh_token: 'refresh-canary',
          token_uri: `${cloud.url}/token`,
        }),
      )
    },
    get issued() {
      return issued
    },
    get tokens() {
      return tokens
    },
    get calls() {
      return calls
    },
    lifetime: 3599,
    fault: undefined,
    answer: () => Response.json({}),
    revoke: () => good.clear(),
    clear() {
      issued = []
      tokens = []
      calls = []
      cloud.lifetime = 3599
      cloud.fault = undefined
      cloud.answer = () => Response.json({})
    },
    async stop() {
      await server.stop(true)
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return cloud
}

/** Claims of an assertion that is signed and dated as the service demands. */
function verifiedClaims(assertion: string, audience: string): JsonObject | undefined {
  const [header = '', payload = '', signature = ''] = assertion.split('.')
  const head = parse(header)
  if (head?.alg !== 'RS256' || head.typ !== 'JWT' || head.kid !== KEY_ID) return undefined
  const signed = Buffer.from(`${header}.${payload}`)
  if (!verify('RSA-SHA256', signed, keys.publicKey, Buffer.from(signature, 'base64url'))) {
    return undefined
  }
  const claims = parse(payload)
  const { iss, aud, iat, exp } = claims ?? {}
  const now = Date.now() / 1000
  const dated = Number(iat) <= now + 5 && now < Number(exp) && Number(exp) - Number(iat) <= 3600
  return iss === ACCOUNT && aud === audience && dated ? claims : undefined
}

function parse(part: string): JsonObject | undefined {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  return isJsonObject(value) ? value : undefined
}

function idToken(audience: string, exp: number, jti: number): string {
  const encode = (part: JsonObject) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const text = `${encode({ alg: 'RS256' })}.${encode({ aud: audience, exp, jti })}`
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), keys.privateKey).toString('base64url')}`
}

function refusal(error: string, error_description: string): Response {
  return Response.json({ error, error_description }, { status: 400 })
}

function unauthenticated(): Response {
  const error = { code: 401, message: 'Invalid credentials.', status: 'UNAUTHENTICATED' }
  return Response.json({ error }, { status: 401 })
}
