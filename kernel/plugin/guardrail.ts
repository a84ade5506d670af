import type { ConfigSnapshot } from './config.ts'
import { GatewayError } from './errors.ts'
import type { JsonObject } from './json.ts'

/** The boundaries of the gateway at which something can be guarded. */
export const guardPhases = [
  'prompt',
  'model_response',
  'generated_tool_call',
  'mcp_call',
  'mcp_result',
  'harness_pre_tool',
] as const
export type GuardPhase = (typeof guardPhases)[number]

/** Why a pack denies. It never quotes what it was shown. */
export interface PackMatch {
  readonly packId: string
  readonly ruleId: string
  /** `command.executable`, `command.arguments`, `command.redirect`, `tool`, or a JSON path. */
  readonly matchedField: string
  readonly reasonCode: string
  readonly description: string
  readonly saferAction: string
}

/** A tool call that a model made or an agent is about to make. */
export interface GuardedToolCall {
  readonly tool: string
  /** JSON text, as it was written but for escapes that it does not need. */
  readonly arguments: string
}

/** What passes a boundary. */
export type GuardedContent =
  | { readonly kind: 'text'; readonly segments: readonly string[] }
  | { readonly kind: 'tool_calls'; readonly calls: readonly GuardedToolCall[] }
  | { readonly kind: 'command'; readonly command: string | readonly string[] }

export interface GuardedOperation {
  readonly phase: GuardPhase
  readonly content: GuardedContent
  readonly requestId: string
  readonly mcpInvocationId?: string
  /** Whose call it is, and of which session: for what is done in several calls. */
  readonly caller?: string
  /** The tool calls that the model made before these, as the request repeats them. */
  readonly earlier?: () => readonly GuardedToolCall[]
  /** The MCP server that tool calls are for. */
  readonly server?: { readonly key: string; readonly aliases: readonly string[] }
}

export type GuardVerdict =
  /** `content`: pass this in the place of the other; the same kind, the same number of parts. */
  | { readonly action: 'allow'; readonly decisionId?: string; readonly content?: GuardedContent }
  | {
      readonly action: 'deny'
      readonly decisionId: string
      readonly reasonCode: string
      /** For the caller: names the rule and a safer action, never the content. */
      readonly message: string
      /** The text of a normal turn that answers a model call. Absent: the caller gets an error. */
      readonly refusal?: string
      readonly rule?: PackMatch
    }

/** A guard has denied what was to pass. */
export class GuardDenial extends GatewayError {
  readonly refusal: string | undefined

  constructor(verdict: Extract<GuardVerdict, { action: 'deny' }>) {
    super('guardrail_denied', verdict.message, {
      details: { decision_id: verdict.decisionId, reason_code: verdict.reasonCode },
    })
    this.refusal = verdict.refusal
  }

  /** What stands in the request log where the denied content would. */
  get logged(): JsonObject {
    return { guardrail_denied: true, decision_id: this.details.decision_id ?? null }
  }
}

/** An enabled policy as it is in force for one scope. */
export interface GuardPolicy {
  /** `global`, `model_route:<model>/<provider>/<upstream_model>`, `mcp_server:<key>` */
  readonly scope: string
  readonly streamBufferBytes: number
  readonly streamBufferTimeoutMs: number
  /** Whether any of its evaluators looks at this boundary. */
  covers(phase: GuardPhase): boolean
  /** Judges and records. Never throws for what an evaluator does: a failure has its disposition. */
  inspect(operation: GuardedOperation): Promise<GuardVerdict>
}

/** The policies of one config; `undefined` where none is enabled, which costs nothing. */
export interface GuardPolicies {
  readonly global: GuardPolicy | undefined
  /** `model` is the resolved one. */
  forRoute(model: string, provider: string, upstreamModel: string): GuardPolicy | undefined
  forServer(serverKey: string): GuardPolicy | undefined
  dispose?(): void | Promise<void>
}

/** Knows the policies. */
export interface Guard {
  /** Makes the policies of a config ready. Throws ConfigError. */
  compile(snapshot: ConfigSnapshot): Promise<GuardPolicies>
}
