import type { Accounting } from 'model-gateway/accounting'
import type { GuardPolicies, GuardPolicy } from 'model-gateway/guardrail'
import type { ConfigLease } from 'model-gateway/host'
import type { Door, Outbound } from 'model-gateway/http'
import type { Identity, Principal } from 'model-gateway/identity'
import type { McpAudit, McpAuthMode, McpRegistry, McpServer } from './contract.ts'
import type { Invocation } from './invocation.ts'
import type { McpTraced } from './observe.ts'
import type { RpcId } from './rpc-id.ts'
import type { McpWatch } from './watch.ts'

/** One request to the MCP proxy, as the door passes it. */
export interface McpIncoming {
  readonly requestId: string
  readonly receivedAt: Date
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly serverKey: string
  /** A name in lower case. */
  header(name: string): string | null
  /** All headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Reads the whole body as text, within the deadline and the size limit. Throws GatewayError. */
  body(): Promise<string>
  /** Aborts when the caller disconnects. Created on first use, because it is expensive. */
  callerLeft(): AbortSignal
  /** IP address of the caller, as far as it is known. */
  address?(): string | undefined
  /** The stream was sent completely, so that the connection waits for the next request. */
  streamEnded(): void
}

/** The response for the door. */
export interface McpReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
}

export interface McpServices {
  /** The config in force. It stays usable until the lease is released. */
  lease(): ConfigLease
  readonly identity: Pick<Identity, 'authenticate'>
  /** Absent: every owner of a key may call. */
  readonly accounting: Pick<Accounting, 'checkOwner'> | undefined
  /** Absent: no servers. */
  readonly registry: McpRegistry | undefined
  readonly authModes: readonly McpAuthMode[]
  /** Absent: tool calls cannot be recorded, so nothing is proxied. */
  readonly audit: McpAudit | undefined
  readonly send: Outbound['fetch']
  trace(incoming: McpIncoming): McpTraced
  readonly door: Door
  readonly limits: McpLimits
  /** Logs an error of the gateway or of a plugin. */
  fault(message: string, error: unknown, requestId: string): void
}

/** Milliseconds. */
export interface McpLimits {
  /** Silence of a stream after which the caller gets a comment. */
  readonly keepAliveMs: number
  /** Silence after which a reply is given up. */
  readonly idleMs: number
}

export const usualMcpLimits: McpLimits = { keepAliveMs: 20_000, idleMs: 300_000 }

/** A request that may go to its server. */
export interface McpCall {
  readonly incoming: McpIncoming
  readonly principal: Principal
  readonly server: McpServer
  readonly audit: McpAudit
  readonly sessionId: string | undefined
  /** The body as sent by the caller, or as changed by a guard. */
  readonly text: string | undefined
  /** The caller's headers. Those that repeat arguments have the values as changed by a guard. */
  readonly headers: Readonly<Record<string, string>>
  /** Of a request: its id and method. */
  readonly request: { readonly id: RpcId; readonly method: string } | undefined
  /** JSON, for errors; undefined if no message was read. */
  readonly idText: string | undefined
  /** Of a `tools/call`. */
  readonly invocation: Invocation | undefined
  /** Of the config that it began with. */
  readonly guards: GuardPolicies | undefined
  /** The policy of the server, if it covers results. */
  readonly resultGuard: GuardPolicy | undefined
  /** Credentials that were sent to the server; they must not appear in any output. */
  readonly secrets: readonly string[]
  readonly watch: McpWatch
  /** The reply is over, whatever became of it. */
  finished(): void
}
