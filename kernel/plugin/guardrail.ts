import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { ConfigSnapshot, Problem } from './config.ts'
import { GatewayError } from './errors.ts'
import { Shape } from './extension-point.ts'
import type { JsonObject, JsonValue } from './json.ts'

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

/** What a pack judges. One object is handed to every pack of a policy, so work on it can be shared. */
export type GuardInput =
  | {
      readonly kind: 'command'
      readonly phase: GuardPhase
      /** A shell command as text, or the argument vector of one. */
      readonly command: string | readonly string[]
    }
  | {
      readonly kind: 'tool_call'
      readonly phase: GuardPhase
      /** As the registry knows it; absent when the call names no server. */
      readonly server: { readonly key: string; readonly aliases: readonly string[] } | undefined
      readonly tool: string
      readonly arguments: JsonObject
    }

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

/** A rule as it is listed and documented. */
export interface PackRule {
  readonly id: string
  readonly reasonCode: string
  readonly description: string
  readonly saferAction: string
}

/** What a pack saw in an input: for admins who ask why, never stored. */
export interface PackExplanation {
  /** The commands, statements or tool identity as the pack reads them. */
  readonly reading: JsonValue
  readonly match: PackMatch | undefined
}

/** A deterministic pack of rules. Pure and synchronous: the same input, the same verdict. */
export interface GuardrailPack {
  /** As policies name it: `area.name`. */
  readonly id: string
  /** Other spellings in the config; normalised to `id`. */
  readonly aliases?: readonly string[]
  readonly version: string
  readonly summary: string
  readonly phases: readonly GuardPhase[]
  readonly rules: readonly PackRule[]
  /** Loads what the pack judges with, once; awaited before its first verdict, and only when it is used. */
  prepare?(): Promise<void>
  /** The first rule that matches; `undefined` allows. */
  evaluate(input: GuardInput): PackMatch | undefined
  explain(input: GuardInput): PackExplanation
}

/** Why a pack in a thread of its own did not judge. The message is for operators and quotes nothing. */
export class PackFailure extends Error {
  override readonly name = 'PackFailure'
}

/**
 * A pack that runs in a thread of its own (`isolation: worker`): it answers later. Rejects with
 * PackFailure when the pack throws, overruns its time or memory, or crashes; the next call finds a
 * fresh thread. Made by the plugin that isolates; others write `GuardrailPack`.
 */
export interface IsolatedPack extends Omit<GuardrailPack, 'evaluate' | 'explain'> {
  readonly isolation: 'worker'
  evaluate(input: GuardInput): Promise<PackMatch | undefined>
  explain(input: GuardInput): Promise<PackExplanation>
}

/** A pack as the guard asks it. */
export type RunningPack = GuardrailPack | IsolatedPack

/** A pack as far as a config can be checked against it; it stands in the plugin's manifest. */
export interface GuardrailPackSpec {
  readonly id: string
  /** Other spellings in the config; normalised to `id`. */
  readonly aliases?: readonly string[]
  readonly phases: readonly GuardPhase[]
}

export const GuardrailPackSpecShape = Type.Object({
  id: Shape.text(),
  aliases: Type.Optional(Type.Array(Shape.text())),
  phases: Type.Array(Shape.oneOf(guardPhases)),
})

/** Why a managed check could not judge. */
export type CheckFailureReason =
  | 'managed.timeout'
  | 'managed.content_too_large'
  | 'managed.unavailable'
  | 'managed.rate_limited'
  | 'managed.access_denied'
  | 'managed.malformed_response'
  | 'managed.invalid_transformation'

/** Thrown by a managed check that could not judge. The message is for operators and quotes nothing. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure'
  readonly reason: CheckFailureReason
  constructor(reason: CheckFailureReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

export type CheckVerdict =
  | { readonly action: 'allow' }
  /** Allowed with this text in the place of the other. */
  | { readonly action: 'transformed'; readonly text: string }
  /** `area.what_it_is`, of a-z, 0-9 and _; anything else is told as `managed.denied`. */
  | { readonly action: 'deny'; readonly reasonCode: string }

/** A configured check by a managed service. */
export interface ManagedCheck {
  /** Judges one text. Throws CheckFailure; the caller keeps the time, by `signal`. */
  evaluate(check: {
    readonly phase: GuardPhase
    readonly text: string
    readonly signal: AbortSignal
  }): Promise<CheckVerdict>
  dispose?(): void | Promise<void>
}

/** A kind of managed check that config can name; it stands in the plugin's manifest. */
export interface ManagedCheckSpec<C extends TSchema = TSchema> {
  readonly kind: string
  /** Other spellings in the config; normalised to `kind`. */
  readonly aliases?: readonly string[]
  readonly phases: readonly GuardPhase[]
  /** What stands under the kind's own name in `guardrails.managed_checks.NAME`. */
  readonly config: C
  /** What the schema cannot say; paths are relative to the kind's own part. */
  check?(config: Readonly<Record<string, unknown>>): Iterable<Problem>
}

export const ManagedCheckSpecShape = Type.Object({
  kind: Shape.text(),
  aliases: Type.Optional(Type.Array(Shape.text())),
  phases: Type.Array(Shape.oneOf(guardPhases)),
  config: Shape.schema(),
  check: Type.Optional(Shape.method()),
})

/** Makes checks of a declared kind. Registered at the point `managedCheckKinds`. */
export interface ManagedCheckKind<C extends TSchema = TSchema> {
  readonly kind: string
  create(config: Static<C>): ManagedCheck | Promise<ManagedCheck>
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
      readonly rule?: PackMatch
    }

/** A guard has denied what was to pass. */
export class GuardDenial extends GatewayError {
  constructor(verdict: Extract<GuardVerdict, { action: 'deny' }>) {
    super('guardrail_denied', verdict.message, {
      details: { decision_id: verdict.decisionId, reason_code: verdict.reasonCode },
    })
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
