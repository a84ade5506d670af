import { Value } from '@sinclair/typebox/value'
import { type AddressPolicy, outboundUrlProblem } from 'model-gateway/http'
import type { McpAuthModeSpec, McpAuthProblem } from 'model-gateway/mcp'
import type { JsonObject } from 'model-gateway/plugin'
import { isSensitiveParameter } from '../_shared/sensitive-names.ts'

/** URL and auth settings of a server; undefined members are not checked. */
export interface Declaration {
  readonly server_url: string | undefined
  readonly auth_mode: string | undefined
  readonly auth_config: Readonly<JsonObject> | undefined
}

/** All problems of a declaration, by field. Does not resolve host names. */
export function* declarationProblems(
  { server_url, auth_mode, auth_config }: Declaration,
  modes: readonly McpAuthModeSpec[],
  { allowPrivate }: Pick<AddressPolicy, 'allowPrivate'>,
): Iterable<McpAuthProblem> {
  const urlProblem = server_url === undefined ? undefined : outboundUrlProblem(server_url)
  if (urlProblem !== undefined) yield { field: 'server_url', message: urlProblem }
  if (auth_mode === undefined) return
  const mode = modes.find((candidate) => candidate.mode === auth_mode)
  if (mode === undefined) {
    const known = modes.map((candidate) => candidate.mode).join(', ')
    yield { field: 'auth_mode', message: `must be one of ${known}` }
    return
  }
  if (auth_config === undefined) return
  const faults = [...Value.Errors(mode.configSchema, auth_config)]
  const seen = new Set<string>()
  for (const { path, message, schema } of faults) {
    const field = `auth_config${path.replaceAll('/', '.')}`
    if (seen.has(field)) continue
    seen.add(field)
    yield { field, message: wordsOf(message, schema.errorMessage) }
  }
  if (server_url === undefined || urlProblem !== undefined || faults.length > 0) return
  const url = new URL(server_url)
  const plainHttpAllowed = allowPrivate && isLoopback(url)
  try {
    const told = [...mode.validate({ serverUrl: url, authConfig: auth_config, plainHttpAllowed })]
    if (!told.every(isProblem)) throw new Error('it returned a problem without field or message')
    yield* told
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `validation by the auth mode ${mode.mode} failed: ${reason}`
    yield { field: 'auth_mode', message }
  }
}

/** Modes come from plugins, so that a problem may be any value. */
function isProblem(told: Partial<McpAuthProblem> | undefined): boolean {
  return typeof told?.field === 'string' && typeof told.message === 'string'
}

function wordsOf(message: string, own: unknown): string {
  if (message === 'Unexpected property') return 'is not a known member of this auth_mode'
  if (message === 'Expected required property') return 'is required by this auth_mode'
  return typeof own === 'string' ? own : message.charAt(0).toLowerCase() + message.slice(1)
}

/** Whether a URL is a loopback address without name resolution. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.[\d.]+$/.test(hostname)
}

/** Rejects a credential in the URL, because URLs are shown and audited, unlike auth modes. */
export function secretInUrl(serverUrl: string): McpAuthProblem | undefined {
  const names = URL.parse(serverUrl)?.searchParams.keys() ?? []
  const name = [...names].find(isSensitiveParameter)
  if (name === undefined) return undefined
  const message = `the parameter ${name} would be stored and shown; remove it and send the credential with an auth_mode such as gateway_static_header`
  return { field: 'server_url', message }
}

/** The reference to the secret of a server, if it has one. */
export function secretOf({
  auth_config,
}: {
  readonly auth_config: Readonly<JsonObject>
}): string | undefined {
  return typeof auth_config.secret_ref === 'string' ? auth_config.secret_ref : undefined
}
