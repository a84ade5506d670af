import {
  ConfigError,
  GatewayError,
  isJsonObject,
  type Problem,
  SecretRef,
  type Static,
  Type,
} from 'model-gateway/plugin'
import { askMetadata, exchangeAssertion, exchangeRefreshToken } from './google-auth-exchange.ts'
import {
  credentialsFault,
  type Environment,
  findDefaultFile,
  readCredentials,
} from './google-auth-file.ts'
import { createTokenCache, type Token, type TokenCache } from './token-cache.ts'

const strict = { additionalProperties: false }

/** `auth` of a provider on Google Cloud. Default `adc`. */
export const googleAuthSchema = Type.Optional(
  Type.Union(
    [
      Type.Object({ mode: Type.Literal('adc') }, strict),
      Type.Object(
        {
          mode: Type.Literal('service_account'),
          credentials_file: Type.String({
            pattern: '^/|^[A-Za-z]:[\\\\/]',
            description: 'write the absolute path of the JSON file, without the prefix file.',
            'x-secret-file': true,
          }),
        },
        strict,
      ),
      Type.Object(
        {
          mode: Type.Literal('bearer'),
          token: SecretRef({ description: 'An access token, for tests' }),
        },
        strict,
      ),
    ],
    { description: 'How calls authenticate. Default adc: application default credentials' },
  ),
)
type GoogleAuth = Static<typeof googleAuthSchema> | undefined

export interface GoogleTokenOptions {
  /** Audience of ID tokens; absent for access tokens. */
  readonly audience?: string
  readonly env: Environment
  /** Unix time in milliseconds. */
  now(): number
  /** Receives the reason, without secrets, when a token cannot be fetched. */
  warn(message: string): void
}

type Headers = Readonly<Record<string, string>>

/** The authentication header, refreshed. Throws ConfigError for an unusable file. */
export function googleCredentials(
  auth: GoogleAuth,
  header: string,
  options: GoogleTokenOptions,
): { credentials(): Headers | Promise<Headers>; refused(credentials: Headers): void } {
  const tokens = tokenCache(auth, options)
  const bearer = (token: string): Headers => ({ [header]: `Bearer ${token}` })
  return {
    credentials() {
      const token = tokens.get()
      return token instanceof Promise
        ? token.then((value) => bearer(value.reveal()))
        : bearer(token.reveal())
    },
    refused(credentials) {
      tokens.drop((credentials[header] ?? '').slice('Bearer '.length))
    },
  }
}

function tokenCache(auth: GoogleAuth, options: GoogleTokenOptions): TokenCache {
  if (auth?.mode === 'bearer') return { get: () => auth.token, drop() {} }
  const problems = [...checkGoogleAuth(auth)]
  if (problems.length > 0) throw new ConfigError(problems)
  // Read again for each token, because a mounted file may be replaced.
  const file = () =>
    auth?.mode === 'service_account' ? auth.credentials_file : findDefaultFile(options.env)
  return createTokenCache(() => fetchToken(file(), auth?.mode === 'service_account', options), {
    now: options.now,
    failed(error) {
      options.warn(error instanceof GatewayError ? error.message : 'fetching a token failed')
    },
  })
}

async function fetchToken(
  file: string | undefined,
  serviceAccountOnly: boolean,
  { audience, env, now }: GoogleTokenOptions,
): Promise<Token> {
  if (file === undefined) return askMetadata(env, audience, now)
  const credentials = readCredentials(file)
  if (credentials.type === 'service_account') return exchangeAssertion(credentials, audience, now)
  if (serviceAccountOnly) throw credentialsFault('the file is not a service account')
  if (audience !== undefined) {
    throw credentialsFault('ID tokens need a service account, but the file is an authorized_user')
  }
  return exchangeRefreshToken(credentials, now)
}

/** Problems of the file in `auth`; paths are relative to the provider. */
export function* checkGoogleAuth(auth: unknown): Iterable<Problem> {
  if (!isJsonObject(auth) || auth.mode !== 'service_account') return
  if (typeof auth.credentials_file !== 'string') return
  const message = faultOf(auth.credentials_file)
  if (message === undefined) return
  const hint = 'put the JSON key of a service account there, readable by the gateway'
  yield { path: ['auth', 'credentials_file'], message, hint }
}

function faultOf(path: string): string | undefined {
  try {
    const { type } = readCredentials(path)
    return type === 'service_account' ? undefined : `the file is ${type}, not a service account`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
