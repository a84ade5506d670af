/** A request on a path that a plugin serves. */
export interface HttpCall {
  readonly request: Request
  /** The decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  /** The caller's `x-request-id`, or a new one. */
  readonly requestId: string
  /** Throws `invalid_request` when the `Host` header names no host. */
  url(): URL
  readonly receivedAt: Date
  header(name: string): string | null
  /** All headers, names in lower case. */
  headers(): Readonly<Record<string, string>>
  /** The client address, if known. */
  address(): string | undefined
  /**
   * Reads the whole body, with the deadline and size limit of the server or a smaller limit in
   * bytes. Afterwards the connection may be silent. Throws GatewayError.
   */
  text(maxBytes?: number): Promise<string>
  /** Lets the connection be silent until the reply. */
  keepOpen(): void
  /** The reply is a stream: the connection may be silent until the returned function is called. */
  streams(): () => void
}

/** Spellings of a path below `/v1`, because clients leave `/v1` out or send it twice. */
export function spellingsOf(path: string): readonly string[] {
  return path.startsWith('/v1/') ? [path, path.slice(3), `/v1${path}`] : [path]
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An HTTP route of a plugin. Each method of a path has one owner. */
export interface HttpRoute {
  /** `ALL`: the plugin handles every method. */
  readonly method: HttpMethod | 'ALL'
  /** `/docs`, `/things/:id`, `/files/*`. Below `/v1`, also served without `/v1` and with two. */
  readonly path: string
  /** Refuses requests whose `Host` is not a name of the gateway (`server.allowed_hosts`). */
  readonly ownHost?: boolean
  /** The surface whose error format this caller gets. Default: the format of OpenAI. */
  errorsOf?(header: HttpCall['header']): string | undefined
  /** Gives a request with an invalid `x-request-id` a new id instead of refusing it. */
  readonly takesAnyRequestId?: boolean
  /**
   * A thrown GatewayError becomes an error reply, anything else `internal_error`. The gateway adds
   * `x-request-id` if missing, and the challenge to a 401.
   */
  handle(call: HttpCall): Response | Promise<Response>
}

/** Routes that are known only after all plugins are set up. */
export interface HttpRouteList {
  /** Called once, before the gateway listens. */
  routes(): readonly HttpRoute[]
}

/** The address and host names of the gateway; fixed at the start. */
export interface Door {
  readonly loopback: boolean
  /** `server.public_base_url`: the URL for callers behind a proxy. */
  readonly publicBaseUrl: string | undefined
  /** Whether `Host` is checked, so that an accepted one is a name of the gateway. */
  readonly checksHost: boolean
  /** Throws `csrf_rejected` for a `Host` header that does not name the gateway. */
  requireOwnHost(host: string | null): void
  /** Aborts when the gateway shuts down: endless streams must close then. */
  readonly draining: AbortSignal
}
