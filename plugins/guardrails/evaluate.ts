import { type AdminRoute, adminRoute, type CallerOf } from 'model-gateway/admin'
import type { GuardedOperation } from 'model-gateway/guardrail'
import { GatewayError, isJsonObject, strictObject, Type } from 'model-gateway/plugin'
import { nullable, oneOf } from '../_shared/schema.ts'
import { type Decision, denialMessage } from './decision.ts'
import { covers, type Judgement } from './engine.ts'
import { type HookCall, hookAnswer, hookFormats, readHook } from './hooks.ts'
import { type CompiledPolicies, decisiveOf, GLOBAL } from './policies.ts'
import type { Servers } from './servers.ts'
import { Action, Disposition, MatchedRule, matchedRule } from './wire.ts'

const Evaluation = Type.Object({
  decision_id: nullable(Type.String(), 'null: no guardrail applies'),
  action: Action,
  allowed: Type.Boolean(),
  matched_rule: Type.Optional(MatchedRule),
  reason_code: Type.Optional(Type.String()),
  failure_disposition: Type.Optional(Disposition),
  transformed: Type.Boolean(),
})
const Enveloped = Type.Object({
  data: Evaluation,
  meta: Type.Object({ generated_at: Type.String({ format: 'date-time' }) }),
})

const bodies = [
  strictObject({
    tool_name: Type.String(),
    command: Type.Union([Type.String(), Type.Array(Type.String())]),
    server: Type.Optional(Type.String()),
  }),
  strictObject({
    tool_name: Type.String(),
    arguments: Type.Record(Type.String(), Type.Unknown()),
    server: Type.Optional(Type.String()),
  }),
  Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'With `format`: the hook JSON of the coding agent.',
    },
  ),
]

/** Judges a tool call of a coding agent before it runs, by the global policy. */
export function evaluateRoute(inForce: () => CompiledPolicies, servers: Servers): AdminRoute {
  return adminRoute({
    method: 'POST',
    path: '/api/v1/guardrails/evaluate',
    audience: 'me',
    tag: 'guardrails',
    summary:
      'Judge a command or a tool call before it runs. With `format` the body is the hook JSON of that coding agent, and the answer is in the format that the agent expects.',
    query: strictObject({
      format: Type.Optional(oneOf(hookFormats)),
    }),
    body: Type.Unknown({ anyOf: bodies }),
    allowsNul: true,
    contentType: 'application/json; charset=utf-8',
    result: Type.Unsafe<string>({ anyOf: [Enveloped, Type.Object({}), Type.String()] }),
    async handle({ requestId, caller, query: { format }, body }) {
      const call = format === undefined ? readCall(body) : readHook(format, body, servers.has)
      if (call === undefined) {
        throw new GatewayError('invalid_request', `the body is not a tool hook of ${format}`)
      }
      const operation = { ...call, requestId, caller: `${ownerOf(caller)} ${sessionOf(body)}` }
      const judgement = await judgeHarness(inForce(), servers.identify(operation))
      if (format !== undefined) {
        const { denial } = judgement ?? {}
        return hookAnswer(format, denial && denialMessage(denial))
      }
      const meta = { generated_at: new Date().toISOString() }
      return JSON.stringify({ data: evaluationOf(judgement), meta })
    },
  })
}

function ownerOf(caller: CallerOf['me']): string {
  return caller.kind === 'session' ? caller.userId : caller.principal.ownershipScopeKey
}

/** The session of the agent, from its hook JSON. */
function sessionOf(body: unknown): string {
  const { session_id, sessionId } = isJsonObject(body) ? body : {}
  const session = session_id ?? sessionId
  return typeof session === 'string' ? session : ''
}

/** Undefined: no guardrail looks at it. */
async function judgeHarness(
  policies: CompiledPolicies,
  call: HookCall & Pick<GuardedOperation, 'requestId' | 'caller'>,
): Promise<Judgement | undefined> {
  const policy = policies.scopes.get(GLOBAL)
  const phase = 'harness_pre_tool'
  if (policy === undefined || !policy.settings.enabled || !covers(policy, phase)) return undefined
  const operation: GuardedOperation = { ...call, phase }
  return await policies.judge(policy, operation, 'record')
}

function evaluationOf(judgement: Judgement | undefined) {
  const decisive: Decision | undefined =
    judgement && (judgement.denial ?? decisiveOf(judgement.decisions))
  return {
    decision_id: decisive?.id ?? null,
    action: decisive?.action ?? 'allow',
    allowed: judgement?.denial === undefined,
    matched_rule: decisive?.match && matchedRule(decisive.match),
    reason_code: decisive?.reasonCode,
    failure_disposition: decisive?.failureDisposition,
    transformed: judgement?.content !== undefined,
  }
}

const FIELDS = ['tool_name', 'server', 'command', 'arguments']

/**
 * Throws `invalid_request` unless the body has exactly one command, or the arguments of one tool.
 */
function readCall(body: unknown): HookCall {
  if (!isJsonObject(body)) throw invalid('must be an object')
  const { tool_name: tool, server, command, arguments: args } = body
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name))
  if (unknown !== undefined) {
    throw invalid(`is not a known member; known: ${FIELDS.join(', ')}`, unknown)
  }
  if (typeof tool !== 'string' || tool === '') {
    throw invalid('must be the name of a tool', 'tool_name')
  }
  if (server !== undefined && (typeof server !== 'string' || server === '')) {
    throw invalid('must be the key of a server', 'server')
  }
  if ((command === undefined) === (args === undefined)) {
    throw invalid('needs exactly one of command and arguments')
  }
  const by = server === undefined ? {} : { server: { key: server, aliases: [] } }
  if (command !== undefined) {
    if (!isCommand(command)) throw invalid('must be a string, or a list of strings', 'command')
    return { ...by, content: { kind: 'command', command } }
  }
  if (!isJsonObject(args)) throw invalid('must be an object', 'arguments')
  const call = { tool, arguments: JSON.stringify(args) }
  return { ...by, content: { kind: 'tool_calls', calls: [call] } }
}

function isCommand(value: unknown): value is string | readonly string[] {
  if (typeof value === 'string') return true
  return Array.isArray(value) && value.every((word) => typeof word === 'string')
}

function invalid(message: string, member?: string): GatewayError {
  const where = member === undefined ? 'the body' : member.slice(0, 64)
  return new GatewayError('invalid_request', `${where} ${message}`)
}
