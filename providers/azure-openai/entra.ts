import { GatewayError, type Secret, SecretRef, type Static, Type } from 'model-gateway/plugin'
import type { Authentication } from '../_shared/compat-http.ts'
import { createTokenCache, type Token, type TokenCache } from '../_shared/token-cache.ts'
import { tokenEndpoint } from '../_shared/token-endpoint.ts'

const AUTHORITY = 'https://login.microsoftonline.com'
const SCOPE = 'https://cognitiveservices.azure.com/.default'

/** A service principal. https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
export const entraSchema = Type.Object(
  {
    mode: Type.Literal('client_credentials'),
    tenant_id: Type.String({
      pattern: '^[\\w.-]+$',
      description: 'Tenant: id or domain',
    }),
    client_id: Type.String({ minLength: 1, description: 'Client id of the app registration' }),
    client_secret: SecretRef({ description: 'Client secret of the app registration' }),
    authority: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s/?#]+/?$',
        description: `Authority URL for tokens. Default ${AUTHORITY}`,
      }),
    ),
    scope: Type.Optional(
      Type.String({
        minLength: 1,
        description: `Scope of tokens. Default ${SCOPE}; national clouds have other scopes`,
      }),
    ),
  },
  { additionalProperties: false },
)
type Entra = Static<typeof entraSchema>

type Auth = Entra | { readonly mode: 'bearer'; readonly token: Secret }

export interface EntraOptions {
  /** Unix time in milliseconds. */
  now(): number
  /** Receives the reason, without secrets, when a token cannot be fetched. */
  warn(message: string): void
}

const { postForm, accessToken } = tokenEndpoint(
  // 502, because the operator must fix it.
  (message, cause) => new GatewayError('upstream_transport', `Entra ID: ${message}`, { cause }),
)

/** The authentication header, refreshed. */
export function entraCredentials(auth: Auth, options: EntraOptions): Authentication {
  const tokens = tokensOf(auth, options)
  return {
    async credentials() {
      return { authorization: `Bearer ${(await tokens.get()).reveal()}` }
    },
    refused({ authorization = '' }) {
      tokens.drop(authorization.slice('Bearer '.length))
    },
  }
}

function tokensOf(auth: Auth, { now, warn }: EntraOptions): TokenCache {
  if (auth.mode === 'bearer') return { get: () => auth.token, drop() {} }
  return createTokenCache(() => fetchToken(auth, now), {
    now,
    failed: (error) =>
      warn(error instanceof GatewayError ? error.message : 'fetching a token failed'),
  })
}

async function fetchToken(
  { tenant_id: tenant, client_id, client_secret, authority = AUTHORITY, scope = SCOPE }: Entra,
  now: () => number,
): Promise<Token> {
  const url = `${authority.replace(/\/$/, '')}/${tenant}/oauth2/v2.0/token`
  const form = {
    grant_type: 'client_credentials',
    client_id,
    client_secret: client_secret.reveal(),
    scope,
  }
  return accessToken(await postForm(url, form), now)
}
