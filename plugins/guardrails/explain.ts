import { type AdminRoute, adminRoute } from 'model-gateway/admin'
import type { GuardedContent, GuardedOperation } from 'model-gateway/guardrail'
import {
  GatewayError,
  isJsonObject,
  type JsonObject,
  type Static,
  strictObject,
  Type,
} from 'model-gateway/plugin'
import { nullable } from '../_shared/schema.ts'
import type { GuardInput, RunningPack } from './contract.ts'
import { covers } from './engine.ts'
import { type CompiledPolicies, decisiveOf, GLOBAL } from './policies.ts'
import type { Servers } from './servers.ts'
import { Action, Disposition, MatchedRule, Mode, matchedRule, Phase } from './wire.ts'

const Body = strictObject({
  command: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description: 'A shell command, or its argument vector.',
    }),
  ),
  tool_name: Type.Optional(Type.String({ description: 'The name of a tool; requires arguments.' })),
  arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  server: Type.Optional(
    Type.String({ description: 'The key of the MCP server that has the tool.' }),
  ),
  text: Type.Optional(Type.String({ description: 'Text of a prompt, a reply or a result.' })),
  phase: Type.Optional(Phase),
  scope: Type.Optional(
    Type.String({ description: 'The scope whose policy is used. Default global.' }),
  ),
})

const Explanation = Type.Object({
  scope: Type.String(),
  phase: Phase,
  enabled: Type.Boolean({ description: 'Whether the policy of the scope is enabled.' }),
  mode: Mode,
  packs: Type.Array(
    Type.Object({
      pack_id: Type.String(),
      version: Type.String(),
      in_policy: Type.Boolean({ description: 'Whether the policy has the pack.' }),
      reading: Type.Unknown({
        description: 'The commands, statements or tool, as the pack parses them',
      }),
      rules: Type.Array(Type.Object({ id: Type.String(), matched: Type.Boolean() })),
      match: nullable(MatchedRule),
    }),
    { description: 'All packs that apply to such input.' },
  ),
  tree: Type.Unknown({
    description:
      'The command as a tree: [{kind, text, value?, unknown?, children?}], where value is the text that a part expands to, and unknown marks text that is known only at run time. null: no command.',
  }),
  evaluators: Type.Array(
    Type.Object({
      evaluator: Type.String(),
      action: Action,
      reason_code: Type.String(),
      failure_disposition: nullable(Disposition),
      latency_ms: Type.Number(),
    }),
    { description: 'Decisions of the evaluators of the policy that were called.' },
  ),
  verdict: Type.Object({
    action: Action,
    allowed: Type.Boolean(),
    reason_code: nullable(Type.String()),
    matched_rule: nullable(MatchedRule),
    transformed: Type.Boolean(),
  }),
})

export interface ExplainParts {
  inForce(): CompiledPolicies
  packs(): readonly RunningPack[]
  readonly servers: Servers
}

/** Explains a decision of a policy. Managed checks are called too; decisions are not recorded. */
export function explainRoute({ inForce, packs, servers }: ExplainParts): AdminRoute {
  return adminRoute({
    method: 'POST',
    path: '/api/v1/admin/guardrails/explain',
    audience: 'platform_admin',
    tag: 'guardrails',
    summary: 'Explain how packs parse a command, a tool call or a text, and what a policy decides.',
    body: Body,
    allowsNul: true,
    result: Explanation,
    async handle({ body, requestId }) {
      const policies = inForce()
      const scope = body.scope ?? GLOBAL
      const policy = policies.scopes.get(scope)
      if (policy === undefined) {
        const known = [...policies.scopes.keys()].join(', ')
        throw new GatewayError('invalid_request', `scope ${scope} has no policy; known: ${known}`)
      }
      const operation = servers.identify(readOperation(body, requestId))
      const { phase } = operation
      const input = inputOf(operation)
      const { enabled, mode } = policy.settings
      const judged = enabled && covers(policy, phase)
      const judgement = judged ? await policies.judge(policy, operation, 'forget') : undefined
      const decisions = judgement?.decisions ?? []
      const decisive = judgement?.denial ?? decisiveOf(decisions)
      const asked = input === undefined ? [] : packs().filter((pack) => pack.phases.includes(phase))
      await Promise.all(asked.map((pack) => pack.prepare?.()))
      const explanations =
        input === undefined
          ? []
          : await Promise.all(
              asked.map((pack) => explanationOf(pack, input, policy.packs.includes(pack))),
            )
      return {
        scope,
        phase,
        enabled,
        mode,
        packs: explanations.map(({ tree: _, ...explanation }) => explanation),
        tree: explanations.find(({ tree }) => tree !== undefined)?.tree ?? null,
        evaluators: decisions.map((decision) => ({
          evaluator: decision.evaluator,
          action: decision.action,
          reason_code: decision.reasonCode,
          failure_disposition: decision.failureDisposition ?? null,
          latency_ms: decision.latencyMs,
        })),
        verdict: {
          action: decisive?.action ?? 'allow',
          allowed: judgement?.denial === undefined,
          reason_code: decisive?.reasonCode ?? null,
          matched_rule: decisive?.match === undefined ? null : matchedRule(decisive.match),
          transformed: judgement?.content !== undefined,
        },
      }
    },
  })
}

async function explanationOf(pack: RunningPack, input: GuardInput, inPolicy: boolean) {
  const { reading: whole, match } = await pack.explain(input)
  // Included once, because all packs that parse commands parse them the same way.
  const { tree, ...rest } = isJsonObject(whole) ? whole : {}
  const reading = tree === undefined ? whole : rest
  return {
    tree,
    pack_id: pack.id,
    version: pack.version,
    in_policy: inPolicy,
    reading,
    rules: pack.rules.map(({ id }) => ({ id, matched: id === match?.ruleId })),
    match: match === undefined ? null : matchedRule(match),
  }
}

/** Throws `invalid_request` unless the body has exactly one command, tool call or text. */
function readOperation(body: Static<typeof Body>, requestId: string): GuardedOperation {
  const { command, tool_name: tool, arguments: args, text, server } = body
  const given = [command, tool, text].filter((part) => part !== undefined)
  if (given.length !== 1 || (tool === undefined) !== (args === undefined)) {
    throw new GatewayError(
      'invalid_request',
      'the body needs exactly one of command, tool_name with arguments, and text',
    )
  }
  const content: GuardedContent =
    command !== undefined
      ? { kind: 'command', command }
      : tool !== undefined
        ? { kind: 'tool_calls', calls: [{ tool, arguments: JSON.stringify(args) }] }
        : { kind: 'text', segments: [text ?? ''] }
  const phase = body.phase ?? (content.kind === 'text' ? 'prompt' : 'harness_pre_tool')
  return {
    phase,
    content,
    requestId,
    ...(server !== undefined && { server: { key: server, aliases: [] } }),
  }
}

function inputOf({ phase, content, server }: GuardedOperation): GuardInput | undefined {
  if (content.kind === 'command') return { kind: 'command', phase, command: content.command }
  const [call] = content.kind === 'tool_calls' ? content.calls : []
  if (call === undefined) return undefined
  const args = JSON.parse(call.arguments) as JsonObject
  return { kind: 'tool_call', phase, server, tool: call.tool, arguments: args }
}
