import { GatewayError, inTime, SecretRef, type Static, Type } from 'model-gateway/plugin'
import { safeUpstreamMessage } from 'model-gateway/provider'

export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  /** Absent: the credentials do not expire. */
  readonly expiration?: Date
}

export interface AwsCredentialSource {
  /** Valid credentials, immediately if cached. Rejects with GatewayError. */
  get(): AwsCredentials | Promise<AwsCredentials>
  /** Reports credentials that AWS refused. */
  refused(credentials: AwsCredentials): void
}

export interface AwsCredentialOptions {
  /** Region of the STS service that assumes roles. */
  readonly region: string
  /** Unix time in milliseconds. */
  now(): number
  /** Receives the reason, without secrets, when credentials cannot be loaded. */
  warn(message: string): void
}

const strict = { additionalProperties: false }

/** The two ways to sign a call. */
export const awsAuthSchemas = [
  Type.Object({ mode: Type.Literal('default_chain') }, strict),
  Type.Object(
    {
      mode: Type.Literal('static'),
      access_key_id: SecretRef({ description: 'Access key id' }),
      secret_access_key: SecretRef({ description: 'Secret access key' }),
      session_token: Type.Optional(
        SecretRef({ description: 'Session token of temporary credentials' }),
      ),
    },
    strict,
  ),
] as const
export type AwsAuth = Static<(typeof awsAuthSchemas)[number]>

export function awsCredentials(auth: AwsAuth, options: AwsCredentialOptions): AwsCredentialSource {
  if (auth.mode === 'default_chain') return cachedCredentials(loadChain(options.region), options)
  const credentials = {
    accessKeyId: auth.access_key_id.reveal(),
    secretAccessKey: auth.secret_access_key.reveal(),
    ...(auth.session_token === undefined ? {} : { sessionToken: auth.session_token.reveal() }),
  }
  return { get: () => credentials, refused() {} }
}

/** Remaining life at which credentials are replaced. */
const EARLY_MS = 300_000

/** Minimum time between two loads while valid credentials exist. */
const RETRY_MS = 10_000

/** Timeout of one load, because neither a `credential_process` nor a token service has one. */
const LOAD_MS = 30_000

/**
 * Caches one set of credentials. Before it expires, one shared load fetches a new set while the old
 * one is used. If loading fails, the old set is used even after it expires: AWS accepts expired
 * instance credentials while the metadata service is down. If AWS refuses them, they are dropped.
 */
export function cachedCredentials(
  load: () => Promise<AwsCredentials>,
  { now, warn }: Pick<AwsCredentialOptions, 'now' | 'warn'>,
  loadMs = LOAD_MS,
): AwsCredentialSource {
  let current: AwsCredentials | undefined
  let refreshAt = 0
  let pending: Promise<AwsCredentials> | undefined

  async function loadOnce(): Promise<AwsCredentials> {
    try {
      const loaded = await inTime(load(), loadMs)
      if (loaded === undefined) throw new Error(`no credentials within ${loadMs} ms`)
      current = loaded.value
      const end = endOf(current)
      refreshAt = Math.max(end - EARLY_MS, Math.min(now() + RETRY_MS, end))
      return current
    } catch (error) {
      warn(`AWS credentials could not be loaded: ${reasonOf(error)}`)
      refreshAt = now() + RETRY_MS
      if (current !== undefined) return current
      throw new GatewayError(
        'upstream_transport',
        'the gateway could not load credentials for the provider; see its log',
        { cause: error },
      )
    } finally {
      pending = undefined
    }
  }

  return {
    get() {
      const at = now()
      if (current !== undefined && at < refreshAt) return current
      pending ??= loadOnce()
      if (current === undefined || at >= endOf(current)) return pending
      // Not awaited, because the failure is already reported.
      pending.catch(() => {})
      return current
    },
    refused(credentials) {
      if (current === credentials) current = undefined
    },
  }
}

function endOf({ expiration }: AwsCredentials): number {
  return expiration?.getTime() ?? Number.POSITIVE_INFINITY
}

/** AWS's message, except for commands, because their arguments may contain secrets. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const message = error.message.replace(/Command failed[\s\S]*/, 'the credential_process failed')
  return safeUpstreamMessage(message)
}

/** The credential chain of AWS's tools. Loaded on demand, because it is large. */
function loadChain(region: string): () => Promise<AwsCredentials> {
  let provider: Promise<(options: { forceRefresh: true }) => Promise<AwsCredentials>> | undefined
  return async () => {
    provider ??= import('@aws-sdk/credential-provider-node').then(({ defaultProvider }) =>
      defaultProvider({ clientConfig: { region } }),
    )
    return (await provider)({ forceRefresh: true })
  }
}
