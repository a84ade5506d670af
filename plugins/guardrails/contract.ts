/** The module `model-gateway/guardrail`, for guardrail packs and managed checks. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import {
  extensionPoint,
  type JsonObject,
  type JsonValue,
  type Problem,
  Shape,
} from 'model-gateway/plugin'
import { type GuardPhase, guardPhases, type PackMatch } from '../../kernel/plugin/guardrail.ts'

// The kernel's guard interface, and the point at which it is provided.
export * from '../../kernel/plugin/guardrail.ts'
export { guard } from '../../kernel/plugin/points.ts'

/**
 * The input of a pack. All packs of a policy get the same object, so that work on it can be shared.
 */
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
      /** The server as the registry knows it; absent if the call has no server. */
      readonly server: { readonly key: string; readonly aliases: readonly string[] } | undefined
      readonly tool: string
      readonly arguments: JsonObject
    }

/** A rule as it is listed and documented. */
export interface PackRule {
  readonly id: string
  readonly reasonCode: string
  readonly description: string
  readonly saferAction: string
}

/** How a pack parsed an input, for the explain route. Never stored. */
export interface PackExplanation {
  /** The commands, statements or tool, as the pack parses them. */
  readonly reading: JsonValue
  readonly match: PackMatch | undefined
}

/**
 * A deterministic pack of rules. Pure and synchronous: the same input always gets the same verdict.
 */
export interface GuardrailPack {
  /** As policies name it: `area.name`. */
  readonly id: string
  /** Other spellings in the config; normalised to `id`. */
  readonly aliases?: readonly string[]
  readonly version: string
  readonly summary: string
  readonly phases: readonly GuardPhase[]
  readonly rules: readonly PackRule[]
  /**
   * Loads the data that the pack needs, once. Awaited before the first verdict, only if the pack is
   * used.
   */
  prepare?(): Promise<void>
  /** The first rule that matches; `undefined` allows. */
  evaluate(input: GuardInput): PackMatch | undefined
  explain(input: GuardInput): PackExplanation
}

/** Why an isolated pack failed. The message is for operators and never quotes the input. */
export class PackFailure extends Error {
  override readonly name = 'PackFailure'
}

/**
 * A pack that runs in a separate thread (`isolation: worker`) and therefore answers asynchronously.
 * Rejects with PackFailure if the pack throws, exceeds its time or memory, or crashes; the next
 * call gets a new thread. Created by the isolating plugin; others write `GuardrailPack`.
 */
export interface IsolatedPack extends Omit<GuardrailPack, 'evaluate' | 'explain'> {
  readonly isolation: 'worker'
  evaluate(input: GuardInput): Promise<PackMatch | undefined>
  explain(input: GuardInput): Promise<PackExplanation>
}

/** A pack as the guard asks it. */
export type RunningPack = GuardrailPack | IsolatedPack

/** The declaration of a pack in a plugin's manifest, which the config is checked against. */
export interface GuardrailPackSpec {
  readonly id: string
  /** Other spellings in the config; normalised to `id`. */
  readonly aliases?: readonly string[]
  readonly phases: readonly GuardPhase[]
}

const GuardrailPackSpecShape = Type.Object({
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

/**
 * Thrown by a managed check that fails. The message is for operators and must not quote content.
 */
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
  /** Allowed, with this text instead of the original. */
  | { readonly action: 'transformed'; readonly text: string }
  /** `area.what_it_is`, of a-z, 0-9 and _. Any other value is reported as `managed.denied`. */
  | { readonly action: 'deny'; readonly reasonCode: string }

/** A configured check by a managed service. */
export interface ManagedCheck {
  /** Judges one text. Throws CheckFailure. `signal` aborts at the timeout. */
  evaluate(check: {
    readonly phase: GuardPhase
    readonly text: string
    readonly signal: AbortSignal
  }): Promise<CheckVerdict>
  dispose?(): void | Promise<void>
}

/** The declaration of a kind of managed check in a plugin's manifest. */
export interface ManagedCheckSpec<C extends TSchema = TSchema> {
  readonly kind: string
  /** Other spellings in the config; normalised to `kind`. */
  readonly aliases?: readonly string[]
  readonly phases: readonly GuardPhase[]
  /** Schema of `guardrails.managed_checks.NAME.<kind>`. */
  readonly config: C
  /** Checks that the schema cannot express; paths are relative to the kind's settings. */
  check?(config: Readonly<Record<string, unknown>>): Iterable<Problem>
}

const ManagedCheckSpecShape = Type.Object({
  kind: Shape.text(),
  aliases: Type.Optional(Type.Array(Shape.text())),
  phases: Type.Array(Shape.oneOf(guardPhases)),
  config: Shape.schema(),
  check: Type.Optional(Shape.method()),
})

/** Creates checks of a declared kind. Provided at the point `managedCheckKinds`. */
export interface ManagedCheckKind<C extends TSchema = TSchema> {
  readonly kind: string
  create(config: Static<C>): ManagedCheck | Promise<ManagedCheck>
}

/** Declared in manifests, because policies of the config name packs. */
export const guardrailPacks = extensionPoint<RunningPack>('guardrail_packs', 'many', {
  what: 'guardrail pack',
  key: 'id',
  shape: Type.Object({
    id: Shape.text(),
    version: Type.String(),
    phases: Type.Array(Shape.oneOf(guardPhases)),
    rules: Type.Array(Type.Unknown()),
    evaluate: Shape.method(),
    explain: Shape.method(),
  }),
  declared: { spec: GuardrailPackSpecShape },
})
// biome-ignore lint/suspicious/noExplicitAny: each kind has its own config; the loader checks it against that kind's schema
export const managedCheckKinds = extensionPoint<ManagedCheckKind<any>>(
  'managed_check_kinds',
  'many',
  {
    what: 'managed check',
    key: 'kind',
    shape: Type.Object({ kind: Shape.text(), create: Shape.method() }),
    declared: { spec: ManagedCheckSpecShape },
  },
)
