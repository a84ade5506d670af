/** A request at the door, on a path that a plugin serves. */
export interface HttpCall {
  readonly request: Request
  /** What stands in the places of the path's parameters; decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The caller's `x-request-id` when it sent one, else a new one. */
  readonly requestId: string
  /** Throws `invalid_request` when the `Host` header names no host. */
  url(): URL
  readonly receivedAt: Date
  header(name: string): string | null
  /** All headers, names in lower case. */
  headers(): Readonly<Record<string, string>>
  /** Where it comes from, as far as that is known. */
  address(): string | undefined
  /**
   * The whole body, under the server's deadline and size limit, or a smaller one of bytes. From then on
   * the connection may stay silent. Throws GatewayError.
   */
  text(maxBytes?: number): Promise<string>
  /** Lets the connection stay silent for as long as the reply takes. */
  keepOpen(): void
  /** The reply is a stream: its connection may stay silent until the returned function is called. */
  streams(): () => void
}

/** A path below `/v1` as clients send it: some leave `/v1` out, some add it to a base that ends in it. */
export function spellingsOf(path: string): readonly string[] {
  return path.startsWith('/v1/') ? [path, path.slice(3), `/v1${path}`] : [path]
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Paths that a plugin serves itself. One method of a path has one owner. */
export interface HttpRoute {
  /** `ALL`: whatever the method is, the plugin answers. */
  readonly method: HttpMethod | 'ALL'
  /** `/docs`, `/things/:id`, `/files/*`. One below `/v1` is served without it and with two, too. */
  readonly path: string
  /** Refuses requests under names that are not the gateway's own (`server.allowed_hosts`). */
  readonly ownHost?: boolean
  /** The id of the surface in whose form errors are told to this caller. Default: the usual form. */
  errorsOf?(header: HttpCall['header']): string | undefined
  /** Answers a request whose `x-request-id` cannot be kept under a new one, instead of refusing it. */
  readonly takesAnyRequestId?: boolean
  /**
   * A GatewayError that it throws is answered in the usual form, anything else as `internal_error`.
   * The door adds `x-request-id` where the reply has none, and to a 401 what it asks for.
   */
  handle(call: HttpCall): Response | Promise<Response>
}

/** Routes that are known only when all plugins are set up, because others bring what is in them. */
export interface HttpRouteList {
  /** Asked once, before the gateway listens. */
  routes(): readonly HttpRoute[]
}

/** Where the gateway listens, and under which names it is called; fixed at the start. */
export interface Door {
  readonly loopback: boolean
  /** `server.public_base_url`: the address as callers see it, when a proxy stands in front. */
  readonly publicBaseUrl: string | undefined
  /** Whether only some names are accepted, so that a `Host` that passed is one of the gateway's. */
  readonly checksHost: boolean
  /** Throws `csrf_rejected` for a `Host` header that does not name the gateway. */
  requireOwnHost(host: string | null): void
  /** Aborts when the gateway begins to end: streams without an end of their own are to close. */
  readonly draining: AbortSignal
}
