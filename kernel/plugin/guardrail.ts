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
  /** As policies name it: `core.shell`. */
  readonly id: string
  /** Other spellings in the config; normalised to `id`. */
  readonly aliases?: readonly string[]
  readonly version: string
  readonly summary: string
  readonly phases: readonly GuardPhase[]
  readonly rules: readonly PackRule[]
  /** The first rule that matches; `undefined` allows. */
  evaluate(input: GuardInput): PackMatch | undefined
  explain(input: GuardInput): PackExplanation
}
