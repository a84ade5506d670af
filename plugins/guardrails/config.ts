import { guardPhases } from 'model-gateway/guardrail'
import { type Brought, broughtTo, type Declared } from 'model-gateway/host'
import { configSection, KEY_ALIASES, type Static, type TSchema, Type } from 'model-gateway/plugin'
import { oneOf } from '../_shared/schema.ts'
import {
  type GuardrailPackSpec,
  guardrailPacks,
  type ManagedCheckKind,
  type ManagedCheckSpec,
  managedCheckKinds,
} from './contract.ts'

const strict = { additionalProperties: false }
const Mode = oneOf(['audit', 'deny'], {
  description: 'audit: record what deny would refuse, but allow it',
})
const OnDeny = oneOf(['error', 'refusal'], {
  description:
    'Reply to a denied model call: error is a 403, refusal a model reply that explains the denial',
})
const bytes = { minimum: 1, maximum: 1_073_741_824 }
const bufferBytes = { ...bytes, description: 'Maximum size of a streamed reply that is judged' }
const bufferTimeout = {
  minimum: 1,
  maximum: 600_000,
  description: 'Maximum wait for the rest of a streamed reply or of a tool result',
}
const tells = {
  enabled: { description: 'Whether guardrails apply in this scope' },
  packs: { description: 'Packs, in order of evaluation; the first match decides' },
  managedChecks: { description: 'Names of managed checks, called after the packs' },
}

const DefaultPolicy = Type.Object(
  {
    enabled: Type.Boolean({ ...tells.enabled, default: false }),
    mode: { ...Mode, default: 'audit' } as typeof Mode,
    on_deny: { ...OnDeny, default: 'error' } as typeof OnDeny,
    packs: Type.Array(Type.String(), { ...tells.packs, default: [] }),
    managed_checks: Type.Array(Type.String(), { ...tells.managedChecks, default: [] }),
    stream_buffer_bytes: Type.Integer({ ...bufferBytes, default: 4_194_304 }),
    stream_buffer_timeout_ms: Type.Integer({ ...bufferTimeout, default: 120_000 }),
  },
  { ...strict, default: {} },
)
export type PolicySettings = Static<typeof DefaultPolicy>

const override = {
  enabled: Type.Optional(Type.Boolean(tells.enabled)),
  mode: Type.Optional(Mode),
  packs: Type.Optional(Type.Array(Type.String(), tells.packs)),
  managed_checks: Type.Optional(Type.Array(Type.String(), tells.managedChecks)),
  stream_buffer_bytes: Type.Optional(Type.Integer(bufferBytes)),
  stream_buffer_timeout_ms: Type.Optional(Type.Integer(bufferTimeout)),
}
const ServerPolicy = Type.Object(override, strict)
const RoutePolicy = Type.Object({ ...override, on_deny: Type.Optional(OnDeny) }, strict)
export type PolicyOverride = Static<typeof RoutePolicy>

const Disposition = oneOf(['fail_open', 'fail_closed'], {
  description: 'What happens if the check fails: fail_open allows, fail_closed denies',
})
const checkFields = {
  phases: Type.Array(oneOf(guardPhases), {
    minItems: 1,
    description: 'list the phases in which the check runs',
  }),
  timeout_ms: Type.Integer({
    minimum: 1,
    maximum: 120_000,
    default: 2_000,
    description: 'Timeout of one call of the check',
  }),
  failure_disposition: { ...Disposition, default: 'fail_open' } as typeof Disposition,
  max_content_bytes: Type.Integer({
    ...bytes,
    default: 262_144,
    description: 'Maximum content that is sent to the check; longer content counts as a failure',
  }),
}
const kind = Type.String({ description: 'Kind of the check, which determines its other fields' })
const AnyCheck = Type.Object({ kind, ...checkFields })
/** An entry also has a member with the neutral name of its kind. */
export type CheckEntry = Static<typeof AnyCheck> & Readonly<Record<string, unknown>>

function schemaWith<C extends TSchema>(check: C) {
  return Type.Object(
    {
      default: DefaultPolicy,
      managed_checks: Type.Record(Type.String(), check, { default: {} }),
      model_routes: Type.Record(Type.String(), RoutePolicy, { default: {} }),
      mcp_servers: Type.Record(Type.String(), ServerPolicy, { default: {} }),
      decisions_retention: Type.String({
        pattern: '^[1-9][0-9]{0,3}d$',
        default: '30d',
        description: 'write a number of days, such as 30d',
      }),
    },
    { ...strict, default: {} },
  )
}

/**
 * Schema of an entry of `managed_checks`. The settings of the kind are a member with the name of
 * the kind. `checkGuardrails` checks that the entry has the settings of its own kind and of no
 * other.
 */
function checkSchema(kinds: readonly ManagedCheckSpec[], partial: boolean): TSchema {
  const own = kinds.map((spec) => [spec.kind, Type.Optional(spec.config)] as const)
  const aliases = kinds.flatMap((spec) => (spec.aliases ?? []).map((alias) => [alias, spec.kind]))
  return Type.Object(
    { kind, ...checkFields, ...Object.fromEntries(own) },
    { additionalProperties: partial, [KEY_ALIASES]: Object.fromEntries(aliases) },
  )
}

export const guardrails = {
  ...configSection('guardrails', schemaWith(AnyCheck)),
  schemaFor(declared: Declared) {
    const kinds = declaredKinds(declared).map(({ spec }) => spec)
    return schemaWith(checkSchema(kinds, declared.partial ?? false))
  },
}

/** The packs that policies may name. */
export function declaredPacks(declared: Declared): readonly Brought<GuardrailPackSpec>[] {
  return broughtTo(guardrailPacks, declared)
}

/** The kinds that managed checks may be of. */
export function declaredKinds(declared: Declared): readonly Brought<ManagedCheckSpec>[] {
  return broughtTo<ManagedCheckKind, ManagedCheckSpec>(managedCheckKinds, declared)
}

const DAY_MS = 86_400_000

/** The retention of decisions in milliseconds. */
export function retentionMs(retention: string): number {
  return Number.parseInt(retention, 10) * DAY_MS
}
