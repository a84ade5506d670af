/** As much of a request to the MCP proxy as its trace needs. */
export interface McpTracedRequest {
  readonly method: string
  readonly receivedAt: Date
  readonly requestId: string
  header(name: string): string | null
}

/** What is told of it: names and numbers of ours, nothing that a caller or a server wrote. */
export interface McpTraceOutcome {
  /** undefined: nobody waited for an answer any more. */
  readonly statusCode: number | undefined
  readonly errorCode?: string | undefined
  readonly server?:
    | { readonly mcpServerId: string; readonly serverKey: string; readonly authMode: string }
    | undefined
  readonly ownerKind?: string | undefined
}

export interface McpTraced {
  /** The W3C trace context that goes to the server. */
  readonly traceparent: string | undefined
  /** The head of the reply is known. */
  finished(outcome: McpTraceOutcome): void
}
