import { GatewayError, inTime, SecretRef, type Static, Type } from 'model-gateway/plugin'
import { safeUpstreamMessage } from 'model-gateway/provider'

export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  /** Without one they are good for ever. */
  readonly expiration?: Date
}

export interface AwsCredentialSource {
  /** Credentials that are good now; at once while there are any. Rejects with GatewayError. */
  get(): AwsCredentials | Promise<AwsCredentials>
  /** Told of credentials that AWS did not take. */
  refused(credentials: AwsCredentials): void
}

export interface AwsCredentialOptions {
  /** Where roles are assumed. */
  readonly region: string
  /** Milliseconds since 1970. */
  now(): number
  /** Told, without any secret, why no credentials could be got. */
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

/** Time between two loads while there are credentials to go on with. */
const RETRY_MS = 10_000

/** Longest time for one load: neither a `credential_process` nor a token service has a limit. */
const LOAD_MS = 30_000

/**
 * Keeps one set of credentials. Near its end a new one is loaded, by one load however many callers
 * there are, while the old one serves. When loading fails the old one goes on serving, even beyond
 * its end: AWS keeps taking those of instances while their metadata service is away, and refuses
 * all others, which drops them here.
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
      // Nobody waits for it; what goes wrong has been reported.
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

/** AWS's own words, except for commands, which may carry secrets in their arguments. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const message = error.message.replace(/Command failed[\s\S]*/, 'the credential_process failed')
  return safeUpstreamMessage(message)
}

/** The chain of AWS's own tools. It is large, and only who asks for it pays for it. */
function loadChain(region: string): () => Promise<AwsCredentials> {
  let provider: Promise<(options: { forceRefresh: true }) => Promise<AwsCredentials>> | undefined
  return async () => {
    provider ??= import('@aws-sdk/credential-provider-node').then(({ defaultProvider }) =>
      defaultProvider({ clientConfig: { region } }),
    )
    return (await provider)({ forceRefresh: true })
  }
}
