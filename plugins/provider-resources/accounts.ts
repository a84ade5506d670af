import type { ConfigLease, ConfigSnapshot } from 'model-gateway/host'
import type { Principal } from 'model-gateway/identity'
import { GatewayError, isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type {
  ResourceCall,
  ResourceKind,
  ResourceReply,
  UpstreamAccount,
  UpstreamResources,
} from 'model-gateway/resources'
import { invalid, parseExact, readBytes } from 'model-gateway/wire'

/** Time limit for the reply headers; uploads get more time per megabyte. */
const HEAD_MS = 60_000
const MS_PER_UPLOADED_MB = 2_000
/** Time limit between two chunks of a body. */
const SILENCE_MS = 60_000
/** Maximum size of a JSON object that describes a file, batch or response. */
const MAX_OBJECT_BYTES = 64 * 1024 * 1024

/** A vendor account, with the id and type of its provider. */
export interface Account extends UpstreamAccount {
  readonly provider: string
  readonly providerType: string
}

export interface AccountsOptions {
  readonly upstreams: () => readonly UpstreamResources[]
  readonly snapshot: () => ConfigSnapshot
}

export type Accounts = ReturnType<typeof createAccounts>

/** The providers that store files, batches or responses for callers. */
export function createAccounts({ upstreams, snapshot }: AccountsOptions) {
  /** `undefined`: the provider is not in the active config, or has no API of this kind. */
  function find(provider: string, kind: ResourceKind): Account | undefined {
    const spec = snapshot().providers.get(provider)
    if (spec === undefined) return undefined
    for (const upstream of upstreams()) {
      const account = upstream.open(provider)
      if (account?.kinds.includes(kind)) {
        return { ...account, provider, providerType: spec.type }
      }
    }
    return undefined
  }

  /** Throws `conflict` if the provider is no longer in the config. */
  function open(provider: string, kind: ResourceKind, what: string): Account {
    const account = find(provider, kind)
    if (account !== undefined) return account
    throw new GatewayError(
      'conflict',
      `${what} is stored at the provider '${provider}', which is no longer in the config or no longer has ${kind}: restore the provider to use it`,
    )
  }

  /**
   * The provider for a caller's new files: the named one, else the only one. A caller may use the
   * providers of the models that it may use. Throws `invalid_request`.
   */
  function choose(named: string | undefined, principal: Principal, lease: ConfigLease): Account {
    const usable = usableProviders(snapshot(), new Set(lease.modelsOf(principal)), principal)
    const accounts = [...usable].flatMap((id) => find(id, 'files') ?? [])
    const names = accounts.map(({ provider }) => `'${provider}'`).join(', ')
    const how =
      'choose one with the header x-gateway-provider, or the field or query parameter provider'
    if (named !== undefined) {
      const account = accounts.find(({ provider }) => provider === named)
      if (account !== undefined) return account
      throw invalid(
        `provider: '${named}' is not a provider with a files API that this key may use${names && `; available: ${names}`}`,
      )
    }
    const [only, ...others] = accounts
    if (only === undefined) {
      throw invalid('provider: no model that this key may use has a provider with a files API')
    }
    if (others.length > 0)
      throw invalid(`provider: several providers have a files API (${names}): ${how}`)
    return only
  }

  return { find, open, choose }
}

/** Whether a model id equals the name, or is a wildcard that matches it. */
function covers(id: string, name: string): boolean {
  const [head = '', tail] = id.split('*')
  return tail === undefined ? id === name : name.startsWith(head) && name.endsWith(tail)
}

/** The providers of the routes of these models. */
function usableProviders(
  { models }: ConfigSnapshot,
  granted: ReadonlySet<string>,
  { grants, allowlists }: Principal,
): ReadonlySet<string> {
  const named = (name: string) =>
    models.get(name) ?? [...models.values()].find(({ id }) => covers(id, name))
  // The names that a wildcard matches are not enumerable, so a grant of one of them suffices.
  const isUsable = (id: string) =>
    granted.has(id) ||
    (id.includes('*') &&
      [...(grants === 'all' ? [] : [grants]), ...allowlists].every((names) =>
        [...names].some((name) => covers(id, name)),
      ))
  const providers = new Set<string>()
  for (const model of models.values()) {
    let end = isUsable(model.id) ? model : undefined
    for (let hops = 0; end?.aliasOf !== undefined && hops < models.size; hops++) {
      end = named(end.aliasOf)
    }
    for (const { provider, enabled } of end?.routes ?? []) if (enabled) providers.add(provider)
  }
  return providers
}

export interface SendOptions extends Omit<ResourceCall, 'signal'> {
  /** Aborts when the caller is gone. */
  readonly signal?: AbortSignal | undefined
}

/** Sends one call, and aborts it after too long a silence. Throws GatewayError. */
export async function send(
  account: UpstreamAccount,
  { signal, ...call }: SendOptions,
): Promise<ResourceReply> {
  const silent = new AbortController()
  const megabytes = call.body instanceof Blob ? call.body.size / 2 ** 20 : 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = (ms: number) => {
    clearTimeout(timer)
    const late = new GatewayError('upstream_timeout', `the provider was silent for ${ms} ms`)
    timer = setTimeout(() => silent.abort(late), ms)
  }
  wait(HEAD_MS + Math.ceil(megabytes) * MS_PER_UPLOADED_MB)
  const ends = signal === undefined ? silent.signal : AbortSignal.any([silent.signal, signal])
  try {
    const reply = await account.send({ ...call, signal: ends })
    async function* body() {
      try {
        wait(SILENCE_MS)
        for await (const piece of reply.body) {
          clearTimeout(timer)
          yield piece
          wait(SILENCE_MS)
        }
      } finally {
        clearTimeout(timer)
      }
    }
    clearTimeout(timer)
    return { status: reply.status, headers: reply.headers, body: body() }
  } catch (error) {
    clearTimeout(timer)
    throw error
  }
}

/** Reads a reply as a JSON object, with its text. Throws `upstream_transport` for anything else. */
export async function readJson(
  reply: ResourceReply,
): Promise<{ readonly object: JsonObject; readonly text: string }> {
  const bad = (why: string) =>
    new GatewayError('upstream_transport', `malformed reply of the upstream: ${why}`)
  const bytes = await readBytes(reply.body, MAX_OBJECT_BYTES, () => bad('it is too large'))
  const text = new TextDecoder().decode(bytes)
  let object: unknown
  try {
    object = parseExact(text)
  } catch {
    throw bad('it is not JSON')
  }
  if (!isJsonObject(object as never)) throw bad('it is not a JSON object')
  return { object: object as JsonObject, text }
}
