/** What plugins around the MCP proxy import as `model-gateway/mcp`. */

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

/** An active registered MCP server, with all that a call of it needs. */
export interface McpServer {
  readonly mcpServerId: string
  readonly serverKey: string
  /** Other names that guardrail rules may know it by: its catalog entry and its host. */
  readonly aliases: readonly string[]
  readonly displayName: string
  readonly serverUrl: string
  /** `mode` of an McpAuthMode. */
  readonly authMode: string
  /** As the mode's schema has it; holds references to secrets, never a secret. */
  readonly authConfig: Readonly<JsonObject>
  /** Longest time to the head of a reply. */
  readonly timeoutMs: number
  /** Where `serverUrl` may lead. */
  readonly addresses: AddressPolicy
  /** Ids of the active tools by their upstream names. */
  readonly tools: ReadonlyMap<string, string>
  /** Whether keys of this owner may use it; absent: those of every owner. */
  admits?(owner: Owner): boolean
  /** Whether callers see the tool, by its upstream name, and may call it; absent: every tool. */
  offers?(tool: string): boolean
}

/** Knows the MCP servers. */
export interface McpRegistry {
  /** From memory; `undefined` for unknown and for disabled servers alike. */
  find(serverKey: string): McpServer | undefined
  /** Allowed browser origins in addition to the gateway's own, of the config in force. */
  allowedOrigins(): readonly string[]
}

/** What an auth mode judges: a server as it is being declared or changed. */
export interface McpAuthDeclaration<C extends TObject = TObject> {
  readonly serverUrl: URL
  readonly authConfig: Static<C>
  /** Whether http will do: a loopback address where private networks are allowed. */
  readonly plainHttpAllowed: boolean
}

/** Something wrong with a declaration: where, as `server_url` or `auth_config.secret_ref`. */
export interface McpAuthProblem {
  readonly field: string
  readonly message: string
}

/** An auth mode as far as a config can be checked against it; it stands in the plugin's manifest. */
export interface McpAuthModeSpec<C extends TObject = TObject> {
  readonly mode: string
  /** The closed shape of `auth_config`. */
  readonly configSchema: C
  /** What the schema cannot say. Called only with an `authConfig` that fits it. Pure. */
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

/** The caller would have to authenticate to the server: nothing is called, the caller gets a 403. */
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
  /** A UUIDv7; the time in it is the time of the call. */
  readonly invocationId: string
  readonly requestId: string
  /** JSON, as the caller wrote it: `7` or `"7"`; `undefined` when the call has none. */
  readonly jsonRpcId: string | undefined
  /** Only a digest of it is kept. */
  readonly sessionId: string | undefined
  readonly protocolVersion: string | undefined
  readonly principal: Principal
  readonly serverId: string
  readonly serverKey: string
  /** `undefined` for a tool that discovery has not seen. */
  readonly toolId: string | undefined
  readonly toolName: string
  /** As they came. Their names are kept, and they themselves, redacted and bounded, unless… */
  readonly arguments: JsonValue | undefined
  /** …a guard is to look at them: then only what its verdict says is kept. */
  readonly awaitsVerdict: boolean
}

/** What guards have said of a call so far. */
export interface McpVerdict {
  readonly policyResult: McpPolicyResult
  readonly guardrailDecisionId?: string
  /** The arguments as they may be kept, when the row was opened without them. */
  readonly arguments?: JsonValue
}

export interface McpInvocationResult {
  readonly status: McpInvocationStatus
  readonly latencyMs: number
  readonly errorCode?: string
  /** Bytes of the reply that the caller was sent. */
  readonly responseBytes: number
  /** The `result` or `error` member of the reply, as it came; kept redacted and bounded. */
  readonly result?: JsonValue
}

/** An open row. */
export interface McpInvocationHandle {
  /** When the call was made. */
  readonly openedAt: Date
  /** Counts however and on whatever connection the row is closed; what it leaves out stays. */
  judged(verdict: McpVerdict): void
  /**
   * The response did not arrive on the connection of the request, but may arrive on a later one,
   * which then reopens the row. A row that is not reopened becomes `incomplete`, at the latest when
   * its session ends.
   */
  leave(): void
  /** Finishes the row. Returns at once and never throws; only the first call counts. */
  close(result: McpInvocationResult): void
}

/** The owner of an upstream session. */
export interface McpSessionBinding {
  readonly serverId: string
  readonly ownershipScopeKey: string
}

/** How much of a model's context the tools of a server take; an estimate, not spend. */
export interface McpTokenOverhead {
  readonly requestId: string
  readonly serverId: string
  readonly toolCount: number
  readonly tokens: number
}

/** Keeps one row per tool call, and whose session is whose. Session ids are kept as digests only. */
export interface McpAudit {
  /** Resolves when the row, `started`, outlives this process. Throws `store_unavailable`. */
  open(invocation: McpInvocation): Promise<McpInvocationHandle>
  /**
   * The open row of a call from another connection or replica in this session, for a response on a
   * later stream; `undefined` if none is open.
   */
  reopen(
    session: { readonly serverId: string; readonly sessionId: string },
    jsonRpcId: string,
  ): Promise<McpInvocationHandle | undefined>
  /** Binds a session that a server has just minted. Resolves when every replica can know it. */
  bind(sessionId: string, binding: McpSessionBinding): Promise<void>
  /** Whose session it is; `undefined` for one that no replica knows. Cached. */
  ownerOf(serverId: string, sessionId: string): Promise<McpSessionBinding | undefined>
  /** The session has ended, or its server knows it no more. */
  unbind(serverId: string, sessionId: string): void
  /** Returns at once; its faults are never the caller's. */
  recordTokenOverhead(overhead: McpTokenOverhead): void
}

/** A request to the MCP proxy at the door. */
export interface McpObservedRequest {
  readonly method: string
  readonly receivedAt: Date
  readonly requestId: string
  header(name: string): string | null
}

/** How it ended: names and numbers of the gateway, nothing that a caller or a server wrote. */
export interface McpOutcome {
  /** undefined: the caller no longer waited for a response. */
  readonly statusCode: number | undefined
  readonly errorCode?: string | undefined
  readonly server?: Pick<McpServer, 'mcpServerId' | 'serverKey' | 'authMode'> | undefined
  readonly ownerKind?: string | undefined
}

/** As an `Observer`, of requests to the MCP proxy. */
export interface McpObserver {
  /** A request has arrived. Gives what follows it; undefined: nothing does. */
  observe(request: McpObservedRequest): McpFollower | undefined
}

/** Follows one request to the MCP proxy. */
export interface McpFollower {
  /** What goes to the server as `traceparent`; absent: the caller's. */
  readonly traceparent?: string | undefined
  /** The head of the reply is known. */
  finished?(outcome: McpOutcome): void
}

export const mcpObservers = extensionPoint<McpObserver>('mcp_observers', 'many', {
  shape: Type.Object({ observe: Shape.method() }),
})
export const mcpRegistry = extensionPoint<McpRegistry>('mcp_registry', 'one')
export const mcpAudit = extensionPoint<McpAudit>('mcp_audit', 'one')
/** Their specs are declared in manifests, because servers of the config are checked against them. */
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
