/** The module `model-gateway/mcp`, for plugins around the MCP proxy. */

import type { TObject } from '@sinclair/typebox'
import type { AddressPolicy } from 'model-gateway/http'
import type { Owner, Principal } from 'model-gateway/identity'
import {
  extensionPoint,
  type JsonObject,
  type JsonValue,
  Shape,
  type Static,
  Type,
} from 'model-gateway/plugin'

export * from './secret.ts'

/** An active registered MCP server, with everything that a call needs. */
export interface McpServer {
  readonly mcpServerId: string
  readonly serverKey: string
  /** Other names for guardrail rules: its catalog key and its host. */
  readonly aliases: readonly string[]
  readonly displayName: string
  readonly serverUrl: string
  /** `mode` of an McpAuthMode. */
  readonly authMode: string
  /** As in the mode's schema; contains references to secrets, never a secret. */
  readonly authConfig: Readonly<JsonObject>
  /** Longest time to the head of a reply. */
  readonly timeoutMs: number
  /** Where `serverUrl` may lead. */
  readonly addresses: AddressPolicy
  /** Ids of the active tools by their upstream names. */
  readonly tools: ReadonlyMap<string, string>
  /** Whether keys of this owner may use the server; absent: keys of every owner may. */
  admits?(owner: Owner): boolean
  /** Whether callers may see and call the tool, by its upstream name; absent: every tool. */
  offers?(tool: string): boolean
}

/** Knows the MCP servers. */
export interface McpRegistry {
  /** From memory; `undefined` for unknown and for disabled servers. */
  find(serverKey: string): McpServer | undefined
  /** Allowed browser origins in addition to the gateway's own, of the config in force. */
  allowedOrigins(): readonly string[]
}

/** A server declaration or change, for validation by its auth mode. */
export interface McpAuthDeclaration<C extends TObject = TObject> {
  readonly serverUrl: URL
  readonly authConfig: Static<C>
  /** Whether http is allowed: at a loopback address if private networks are allowed. */
  readonly plainHttpAllowed: boolean
}

/** A problem of a declaration; `field` as in `server_url` or `auth_config.secret_ref`. */
export interface McpAuthProblem {
  readonly field: string
  readonly message: string
}

/** The declaration of an auth mode in a plugin's manifest, which the config is checked against. */
export interface McpAuthModeSpec<C extends TObject = TObject> {
  readonly mode: string
  /** The closed shape of `auth_config`. */
  readonly configSchema: C
  /** Checks that the schema cannot express. Called only with a valid `authConfig`. Pure. */
  validate(declaration: McpAuthDeclaration<C>): Iterable<McpAuthProblem>
}

/** The gateway authenticates to the server, or no authentication is needed. */
export interface McpGatewayAuthMode<C extends TObject = TObject> extends McpAuthModeSpec<C> {
  readonly kind: 'gateway'
  /**
   * Headers for one call, names in lower case. Reads the secret for every call; callers must not
   * store it. Throws GatewayError `internal_error` without the secret in its message if it is
   * missing.
   */
  headers(
    server: { readonly serverKey: string; readonly authConfig: Static<C> },
    signal: AbortSignal,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
}

/** The server requires credentials of the caller: it is not called, and the caller gets a 403. */
export interface McpCallerAuthMode<C extends TObject = TObject> extends McpAuthModeSpec<C> {
  readonly kind: 'caller'
}

export type McpAuthMode<C extends TObject = TObject> = McpGatewayAuthMode<C> | McpCallerAuthMode<C>

/** Types an auth mode where it is written. */
export function mcpAuthMode<C extends TObject>(mode: McpAuthMode<C>): McpAuthMode {
  return mode as unknown as McpAuthMode
}

export type McpInvocationStatus =
  | 'success'
  /** The tool ran and said that it failed. */
  | 'tool_error'
  | 'unauthorized'
  | 'policy_denied'
  | 'upstream_error'
  | 'gateway_error'
  | 'timeout'
  | 'cancelled'
  | 'incomplete'
  | 'invalid_request'

export type McpPolicyResult = 'allowed' | 'denied' | 'not_evaluated'

/** A `tools/call` before anything is sent. */
export interface McpInvocation {
  /** A UUIDv7 with the time of the call. */
  readonly invocationId: string
  readonly requestId: string
  /** JSON as the caller wrote it: `7` or `"7"`; `undefined` for a call without id. */
  readonly jsonRpcId: string | undefined
  /** Stored only as a digest. */
  readonly sessionId: string | undefined
  readonly protocolVersion: string | undefined
  readonly principal: Principal
  readonly serverId: string
  readonly serverKey: string
  /** `undefined` for a tool that discovery has not found. */
  readonly toolId: string | undefined
  readonly toolName: string
  /**
   * The arguments as received. Their names are stored, and they themselves, redacted and limited in
   * size, unless `awaitsVerdict` is set.
   */
  readonly arguments: JsonValue | undefined
  /** A guard will judge the arguments: only those that its verdict contains are stored. */
  readonly awaitsVerdict: boolean
}

/** The verdict of guards on a call so far. */
export interface McpVerdict {
  readonly policyResult: McpPolicyResult
  readonly guardrailDecisionId?: string
  /** The arguments that may be stored, if the row was opened without them. */
  readonly arguments?: JsonValue
}

export interface McpInvocationResult {
  readonly status: McpInvocationStatus
  readonly latencyMs: number
  readonly errorCode?: string
  /** Bytes of the reply that were sent to the caller. */
  readonly responseBytes: number
  /**
   * The `result` or `error` member of the reply as received; stored redacted and limited in size.
   */
  readonly result?: JsonValue
}

/** An open row. */
export interface McpInvocationHandle {
  /** When the call was made. */
  readonly openedAt: Date
  /**
   * Applies however and on whatever connection the row is closed. Omitted members keep their value.
   */
  judged(verdict: McpVerdict): void
  /**
   * The response did not arrive on the connection of the request, but may arrive on a later one,
   * which then reopens the row. A row that is not reopened becomes `incomplete`, at the latest when
   * its session ends.
   */
  leave(): void
  /** Closes the row. Returns at once and never throws; only the first call has an effect. */
  close(result: McpInvocationResult): void
}

/** The owner of an upstream session. */
export interface McpSessionBinding {
  readonly serverId: string
  readonly ownershipScopeKey: string
}

/** Estimated size of a server's tools in a model's context, in tokens. */
export interface McpTokenOverhead {
  readonly requestId: string
  readonly serverId: string
  readonly toolCount: number
  readonly tokens: number
}

/**
 * Records one row per tool call, and the owners of sessions. Session ids are stored only as
 * digests.
 */
export interface McpAudit {
  /** Resolves when the row, `started`, is durable. Throws `store_unavailable`. */
  open(invocation: McpInvocation): Promise<McpInvocationHandle>
  /**
   * The open row of a call from another connection or replica in this session, for a response on a
   * later stream; `undefined` if none is open.
   */
  reopen(
    session: { readonly serverId: string; readonly sessionId: string },
    jsonRpcId: string,
  ): Promise<McpInvocationHandle | undefined>
  /** Binds a session that a server has just issued. Resolves when every replica can look it up. */
  bind(sessionId: string, binding: McpSessionBinding): Promise<void>
  /** The owner of a session; `undefined` for an unknown session. Cached. */
  ownerOf(serverId: string, sessionId: string): Promise<McpSessionBinding | undefined>
  /** The session has ended, or its server no longer knows it. */
  unbind(serverId: string, sessionId: string): void
  /** Returns at once; its errors never affect the caller. */
  recordTokenOverhead(overhead: McpTokenOverhead): void
}

/** A request to the MCP proxy at the door. */
export interface McpObservedRequest {
  readonly method: string
  readonly receivedAt: Date
  readonly requestId: string
  header(name: string): string | null
}

/** How the request ended: names and numbers of the gateway, no content of callers or servers. */
export interface McpOutcome {
  /** undefined: the caller no longer waited for a response. */
  readonly statusCode: number | undefined
  readonly errorCode?: string | undefined
  readonly server?: Pick<McpServer, 'mcpServerId' | 'serverKey' | 'authMode'> | undefined
  readonly ownerKind?: string | undefined
}

/** Like `Observer`, for requests to the MCP proxy. */
export interface McpObserver {
  /** Called for each request. Returns an observation of the request, or undefined. */
  observe(request: McpObservedRequest): McpFollower | undefined
}

/** Follows one request to the MCP proxy. */
export interface McpFollower {
  /** Sent to the server as `traceparent`; absent: the caller's. */
  readonly traceparent?: string | undefined
  /** The head of the reply is known. */
  finished?(outcome: McpOutcome): void
}

export const mcpObservers = extensionPoint<McpObserver>('mcp_observers', 'many', {
  shape: Type.Object({ observe: Shape.method() }),
})
export const mcpRegistry = extensionPoint<McpRegistry>('mcp_registry', 'one')
export const mcpAudit = extensionPoint<McpAudit>('mcp_audit', 'one')
/** The specs are declared in manifests, because servers in the config are checked against them. */
export const mcpAuthModes = extensionPoint<McpAuthMode>('mcp_auth_modes', 'many', {
  what: 'MCP auth mode',
  key: 'mode',
  declared: {
    spec: Type.Object({
      mode: Shape.text(),
      configSchema: Shape.objectSchema(),
      validate: Shape.method(),
    }),
  },
  shape: Type.Object({
    mode: Shape.text(),
    kind: Shape.oneOf(['gateway', 'caller']),
    validate: Shape.method(),
  }),
  fault: (mode) =>
    mode.kind === 'caller' || typeof mode.headers === 'function'
      ? undefined
      : 'headers must be a function if kind is gateway',
})
