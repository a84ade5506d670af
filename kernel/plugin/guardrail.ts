import type { ConfigSnapshot } from './config.ts'
import { GatewayError } from './errors.ts'
import type { JsonObject } from './json.ts'

/** The boundaries at which guardrails apply. */
export const guardPhases = [
  'prompt',
  'model_response',
  'generated_tool_call',
  'mcp_call',
  'mcp_result',
  'harness_pre_tool',
] as const
export type GuardPhase = (typeof guardPhases)[number]

/** Why a pack denies. Never quotes the content. */
export interface PackMatch {
  readonly packId: string
  readonly ruleId: string
  /** `command.executable`, `command.arguments`, `command.redirect`, `tool`, or a JSON path. */
  readonly matchedField: string
  readonly reasonCode: string
  readonly description: string
  readonly saferAction: string
}

/** A tool call that a model made or that an agent is about to run. */
export interface GuardedToolCall {
  readonly tool: string
  /** JSON text as written, without unnecessary escapes. */
  readonly arguments: string
}

/** The content at a boundary. */
export type GuardedContent =
  | { readonly kind: 'text'; readonly segments: readonly string[] }
  | { readonly kind: 'tool_calls'; readonly calls: readonly GuardedToolCall[] }
  | { readonly kind: 'command'; readonly command: string | readonly string[] }

export interface GuardedOperation {
  readonly phase: GuardPhase
  readonly content: GuardedContent
  readonly requestId: string
  readonly mcpInvocationId?: string
  /** The owner and session of the call, for rules over several calls. */
  readonly caller?: string
  /** Earlier tool calls of the model, as the request repeats them. */
  readonly earlier?: () => readonly GuardedToolCall[]
  /** The MCP server of the tool calls. */
  readonly server?: { readonly key: string; readonly aliases: readonly string[] }
}

export type GuardVerdict =
  /** `content`: pass this instead; same kind, same number of parts. */
  | { readonly action: 'allow'; readonly decisionId?: string; readonly content?: GuardedContent }
  | {
      readonly action: 'deny'
      readonly decisionId: string
      readonly reasonCode: string
      /** For the caller: names the rule and a safer action, never the content. */
      readonly message: string
      /** The text of a normal turn instead of an error. Absent: an error. */
      readonly refusal?: string
      readonly rule?: PackMatch
    }

/** A guard has denied the content. */
export class GuardDenial extends GatewayError {
  readonly refusal: string | undefined

  constructor(verdict: Extract<GuardVerdict, { action: 'deny' }>) {
    super('guardrail_denied', verdict.message, {
      details: { decision_id: verdict.decisionId, reason_code: verdict.reasonCode },
    })
    this.refusal = verdict.refusal
  }

  /** Stored in the request log instead of the denied content. */
  get logged(): JsonObject {
    return { guardrail_denied: true, decision_id: this.details.decision_id ?? null }
  }
}

/** An enabled policy for one scope. */
export interface GuardPolicy {
  /** `global`, `model_route:<model>/<provider>/<upstream_model>`, `mcp_server:<key>` */
  readonly scope: string
  readonly streamBufferBytes: number
  readonly streamBufferTimeoutMs: number
  /** Whether any of its evaluators checks this boundary. */
  covers(phase: GuardPhase): boolean
  /** Evaluates and records. Errors of evaluators are not thrown; their failure setting decides. */
  inspect(operation: GuardedOperation): Promise<GuardVerdict>
}

/** The policies of one config; undefined if none applies, which costs nothing. */
export interface GuardPolicies {
  readonly global: GuardPolicy | undefined
  /** `model` is the executing model. */
  forRoute(model: string, provider: string, upstreamModel: string): GuardPolicy | undefined
  forServer(serverKey: string): GuardPolicy | undefined
  dispose?(): void | Promise<void>
}

/** Compiles the policies. */
export interface Guard {
  /** Compiles the policies of a config. Throws ConfigError. */
  compile(snapshot: ConfigSnapshot): Promise<GuardPolicies>
}
