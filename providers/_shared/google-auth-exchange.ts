import { sign } from 'node:crypto'
import { isJsonObject, type JsonObject, Secret } from 'model-gateway/plugin'
import {
  type AuthorizedUser,
  credentialsFault,
  type Environment,
  type ServiceAccount,
} from './google-auth-file.ts'
import type { Token } from './token-cache.ts'
import { type Answer, type Now, tokenEndpoint } from './token-endpoint.ts'

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const ASSERTION_SECONDS = 3600
const METADATA_MS = 3_000
const METADATA_HOSTS = ['169.254.169.254', 'metadata.google.internal.']
const METADATA_PATH = '/computeMetadata/v1/instance/service-accounts/default'

const { postForm, request, parseObject, accessToken } = tokenEndpoint(credentialsFault)

/** An access token, or with an audience an ID token, for an assertion that the key signs. */
export async function exchangeAssertion(
  account: ServiceAccount,
  audience: string | undefined,
  now: Now,
): Promise<Token> {
  const assertion = signAssertion(account, audience, Math.floor(now() / 1000))
  const answer = await postForm(account.tokenUri, {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion,
  })
  return audience === undefined ? accessToken(answer, now) : idToken(answer.id_token)
}

export async function exchangeRefreshToken(user: AuthorizedUser, now: Now): Promise<Token> {
  const answer = await postForm(user.tokenUri, {
    grant_type: 'refresh_token',
    refresh_token: user.refreshToken.reveal(),
    client_id: user.clientId,
    client_secret: user.clientSecret.reveal(),
  })
  return accessToken(answer, now)
}

/** A token for the service account of this machine. */
export async function askMetadata(
  env: Environment,
  audience: string | undefined,
  now: Now,
): Promise<Token> {
  if (audience === undefined) {
    const text = await getMetadata(env, `/token?scopes=${encodeURIComponent(SCOPE)}`)
    return accessToken(parseObject(text, 'the metadata server'), now)
  }
  const query = `audience=${encodeURIComponent(audience)}&format=full`
  return idToken((await getMetadata(env, `/identity?${query}`)).trim())
}

function signAssertion(account: ServiceAccount, audience: string | undefined, iat: number): string {
  const header = {
    alg: 'RS256',
    typ: 'JWT',
    ...(account.privateKeyId === undefined ? {} : { kid: account.privateKeyId }),
  }
  const claims = {
    iss: account.clientEmail,
    ...(audience === undefined ? { scope: SCOPE } : { target_audience: audience }),
    aud: account.tokenUri,
    iat,
    exp: iat + ASSERTION_SECONDS,
  }
  const text = `${base64url(header)}.${base64url(claims)}`
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), account.privateKey).toString('base64url')}`
}

function base64url(part: JsonObject): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

async function getMetadata(env: Environment, path: string): Promise<string> {
  const override = env.GCE_METADATA_HOST || env.GCE_METADATA_IP
  const hosts = override ? [override] : METADATA_HOSTS
  let unreachable: unknown
  for (const host of hosts) {
    let answer: Answer
    try {
      answer = await request(
        'the metadata server',
        `http://${host}${METADATA_PATH}${path}`,
        METADATA_MS,
        { headers: { 'metadata-flavor': 'Google' } },
      )
    } catch (error) {
      unreachable = error
      continue
    }
    if (answer.status === 200) return answer.text
    throw credentialsFault(`the metadata server answered with status ${answer.status}`)
  }
  throw unreachable
}

function idToken(value: unknown): Token {
  if (typeof value === 'string') {
    const expiresAt = expiryOf(value)
    if (expiresAt !== undefined) return { value: new Secret(value), expiresAt }
  }
  throw credentialsFault('the response has no ID token')
}

/**
 * `exp` of a JWT in milliseconds. The signature is not checked, because the receiving service does
 * that.
 */
function expiryOf(jwt: string): number | undefined {
  try {
    const payload: unknown = JSON.parse(
      Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8'),
    )
    return isJsonObject(payload) && typeof payload.exp === 'number' ? payload.exp * 1000 : undefined
  } catch {
    return undefined
  }
}
