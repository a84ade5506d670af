import { createPrivateKey, type KeyObject } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { GatewayError, isJsonObject, type JsonObject, Secret } from 'model-gateway/plugin'

export type Environment = Readonly<Record<string, string | undefined>>

export interface ServiceAccount {
  readonly type: 'service_account'
  readonly clientEmail: string
  /** Hides the key in logs. */
  readonly privateKey: KeyObject
  readonly privateKeyId: string | undefined
  readonly tokenUri: string
}

export interface AuthorizedUser {
  readonly type: 'authorized_user'
  readonly clientId: string
  readonly clientSecret: Secret
  readonly refreshToken: Secret
  readonly tokenUri: string
}

const TOKEN_URI = 'https://oauth2.googleapis.com/token'

/**
 * The error for unusable credentials: 502, because the operator must fix them. Contains no secret.
 */
export function credentialsFault(message: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_transport', `Google credentials: ${message}`, { cause })
}

/**
 * The path of application default credentials: `GOOGLE_APPLICATION_CREDENTIALS`, else the
 * well-known file if it exists. Undefined: use the metadata server.
 */
export function findDefaultFile(env: Environment): string | undefined {
  if (env.GOOGLE_APPLICATION_CREDENTIALS) return env.GOOGLE_APPLICATION_CREDENTIALS
  const folder =
    env.CLOUDSDK_CONFIG ||
    (process.platform === 'win32'
      ? join(env.APPDATA ?? '', 'gcloud')
      : join(env.HOME || homedir(), '.config', 'gcloud'))
  const file = join(folder, 'application_default_credentials.json')
  return existsSync(file) ? file : undefined
}

/** The content of a credentials file. Throws GatewayError. */
export function readCredentials(path: string): ServiceAccount | AuthorizedUser {
  const file = parseFile(path)
  const { type } = file
  if (type === 'service_account') {
    return {
      type,
      clientEmail: field(file, 'client_email'),
      privateKey: parseKey(field(file, 'private_key')),
      privateKeyId: typeof file.private_key_id === 'string' ? file.private_key_id : undefined,
      tokenUri: tokenUri(file),
    }
  }
  if (type === 'authorized_user') {
    return {
      type,
      clientId: field(file, 'client_id'),
      clientSecret: new Secret(field(file, 'client_secret')),
      refreshToken: new Secret(field(file, 'refresh_token')),
      tokenUri: tokenUri(file),
    }
  }
  throw credentialsFault(
    `files of the type ${JSON.stringify(type ?? null)} are not supported, only service_account and authorized_user`,
  )
}

function parseFile(path: string): JsonObject {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable'
    throw credentialsFault(`the file ${path} cannot be read (${code})`, cause)
  }
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    // Without its cause, which may quote the file.
    file = undefined
  }
  if (!isJsonObject(file)) throw credentialsFault(`the file ${path} is not a JSON object`)
  return file
}

function field(file: JsonObject, name: string): string {
  const value = file[name]
  if (typeof value === 'string' && value !== '') return value
  throw credentialsFault(`the file has no ${name}`)
}

function parseKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw credentialsFault('the private_key of the file is not a key in PEM')
  }
}

function tokenUri(file: JsonObject): string {
  const uri = file.token_uri ?? TOKEN_URI
  if (typeof uri === 'string' && /^https?:\/\//.test(uri) && URL.canParse(uri)) return uri
  throw credentialsFault('the token_uri of the file is not a URL')
}
