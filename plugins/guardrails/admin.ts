import { type AdminRoute, adminRoute, pageQuery } from 'model-gateway/admin'
import { strictObject, Type } from 'model-gateway/plugin'
import { countedListOf, readCountedPage } from '../_shared/counted-list.ts'
import { periodQuery, readPeriod } from '../_shared/query.ts'
import { asView, Text } from '../_shared/schema.ts'
import type { RunningPack } from './contract.ts'
import type { CompiledPolicies } from './policies.ts'
import { type DecisionRow, filterNames, type Store } from './store.ts'
import { Action, DecisionItem, Disposition, Mode, OnDeny, Phase, tag } from './wire.ts'

const Words = Type.Array(Text)

const Policies = Type.Object({
  config_version: Text,
  decisions_retention_days: Type.Integer(),
  policies: Type.Array(
    Type.Object({
      scope: Type.String({
        description: 'global, model_route:<model>/<provider>/<upstream_model> or mcp_server:<key>',
      }),
      enabled: Type.Boolean(),
      mode: Mode,
      on_deny: OnDeny,
      packs: Words,
      managed_checks: Words,
      stream_buffer_bytes: Type.Integer(),
      stream_buffer_timeout_ms: Type.Integer(),
    }),
    {
      description:
        'The global policy, and each policy that the config sets for a route or a server.',
    },
  ),
  managed_checks: Type.Array(
    Type.Object({
      name: Text,
      kind: Text,
      phases: Type.Array(Phase),
      timeout_ms: Type.Integer(),
      failure_disposition: Disposition,
      max_content_bytes: Type.Integer(),
    }),
  ),
  packs: Type.Array(
    Type.Object({
      id: Text,
      aliases: Words,
      version: Text,
      summary: Text,
      phases: Type.Array(Phase),
      rules: Type.Array(
        Type.Object({ id: Text, reason_code: Text, description: Text, safer_action: Text }),
      ),
    }),
    { description: 'All loaded packs.' },
  ),
})

const word = (description: string, maxLength = 512) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }))

export interface AdminParts {
  inForce(): CompiledPolicies
  packs(): readonly RunningPack[]
  readonly store: Pick<Store, 'list'>
}

/** Routes for the policies in force and their decisions. */
export function adminRoutes({ inForce, packs, store }: AdminParts): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/guardrails/policies',
      audience: 'platform_admin',
      tag,
      summary: 'Guardrail policies of the config in force, without secrets.',
      result: Policies,
      handle: () => viewOfPolicies(inForce(), packs()),
    }),
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/guardrails/decisions',
      audience: 'platform_admin',
      tag,
      summary: 'Decisions of packs and managed checks, newest first.',
      query: strictObject({
        ...pageQuery,
        request_id: word('The id of a request.', 128),
        phase: Type.Optional(Phase),
        action: Type.Optional(Action),
        evaluator: word('A pack, or the name of a managed check.'),
        scope: word('The scope of a policy.', 2_048),
        ...periodQuery,
      }),
      result: countedListOf(DecisionItem),
      handle({ query }) {
        const equal = Object.fromEntries(
          filterNames.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])),
        )
        const filter = { equal, ...readPeriod(query) }
        return readCountedPage(query, (page) => store.list(filter, page), viewOfDecision)
      },
    }),
  ]
}

const DAY_MS = 86_400_000

function viewOfPolicies(policies: CompiledPolicies, packs: readonly RunningPack[]) {
  return {
    config_version: policies.configVersion,
    decisions_retention_days: policies.retentionMs / DAY_MS,
    policies: [...policies.scopes.values()].map(({ scope, settings, ...policy }) => ({
      scope,
      enabled: settings.enabled,
      mode: settings.mode,
      on_deny: settings.on_deny,
      packs: policy.packs.map(({ id }) => id),
      managed_checks: policy.checks.map(({ name }) => name),
      stream_buffer_bytes: settings.stream_buffer_bytes,
      stream_buffer_timeout_ms: settings.stream_buffer_timeout_ms,
    })),
    managed_checks: policies.checks.map((check) => ({
      name: check.name,
      kind: check.kind,
      phases: [...check.phases],
      timeout_ms: check.timeoutMs,
      failure_disposition: check.disposition,
      max_content_bytes: check.maxContentBytes,
    })),
    packs: packs.map((pack) => ({
      id: pack.id,
      aliases: [...(pack.aliases ?? [])],
      version: pack.version,
      summary: pack.summary,
      phases: [...pack.phases],
      rules: pack.rules.map(({ id, reasonCode, description, saferAction }) => ({
        id,
        reason_code: reasonCode,
        description,
        safer_action: saferAction,
      })),
    })),
  }
}

function viewOfDecision(row: DecisionRow) {
  return asView(DecisionItem, { ...row, decision_id: row.id })
}
