import type {
  GuardedContent,
  GuardedOperation,
  GuardPhase,
  PackMatch,
} from 'model-gateway/guardrail'
import { sha256, textsOf, withTexts } from './content.ts'
import { type GuardInput, PackFailure, type RunningPack } from './contract.ts'
import {
  DETERMINISTIC_ALLOW,
  type Decision,
  INVALID_TRANSFORMATION,
  MALFORMED_ARGUMENTS,
  MANAGED_ALLOW,
  MANAGED_TRANSFORMED,
  type Mode,
  UNINSPECTABLE,
} from './decision.ts'
import { type CheckOutcome, type RunningCheck, runCheck } from './managed.ts'
import { countVerdict, turnOf } from './pace.ts'
import { inputsOf, keepTyped, type Typed } from './pack-inputs.ts'
import type { TerminalMemory } from './terminal-sessions.ts'

/** A policy as the engine needs it. */
export interface EnginePolicy {
  readonly scope: string
  readonly mode: Mode
  readonly packs: readonly RunningPack[]
  readonly checks: readonly RunningCheck[]
}

export interface EngineTools {
  /** Milliseconds since the epoch. */
  now(): number
  /** Called for a pack that throws and a check that fails. */
  fault(evaluator: string, error: Error): void
  /** Text that earlier calls typed into terminals. Default: nothing is remembered. */
  readonly terminals?: TerminalMemory
}

/** The judgement of an operation. */
export interface Judgement {
  /** Of every evaluator that ran, in order. */
  readonly decisions: readonly Decision[]
  /** The denying decision; the operation must not continue. */
  readonly denial: Decision | undefined
  /** The transformed content; undefined if nothing changed. */
  readonly content: GuardedContent | undefined
}

/**
 * Judges an operation by the packs, then by the managed checks, each in their order. The first
 * denial ends it. Never rejects for an error of a pack or a check.
 */
export async function judge(
  policy: EnginePolicy,
  operation: GuardedOperation,
  tools: EngineTools,
): Promise<Judgement> {
  const { phase } = operation
  const decisions: Decision[] = []
  const decide = decider(policy, operation, tools, decisions)
  const packs = policy.packs.filter((pack) => pack.phases.includes(phase))
  const denial = await judgeByPacks(packs, operation, policy.mode, tools, decide)
  if (denial !== undefined) return { decisions, denial, content: undefined }

  let { content } = operation
  for (const check of policy.checks) {
    if (!check.phases.includes(phase)) continue
    const start = performance.now()
    const texts = textsOf(content)
    const outcome = await runCheck(check, phase, texts)
    const after = outcome.kind === 'transformed' ? withTexts(content, outcome.texts) : undefined
    const decision = decide({
      ...checkFinding(check, outcome, after, policy.mode),
      texts,
      latencyMs: performance.now() - start,
    })
    if (outcome.kind === 'failure' && outcome.error !== undefined) {
      tools.fault(check.name, outcome.error)
    }
    if (decision.action === 'deny') return { decisions, denial: decision, content: undefined }
    if (after !== undefined) content = after
  }
  keepTyped(operation, tools.terminals)
  return {
    decisions,
    denial: undefined,
    content: content === operation.content ? undefined : content,
  }
}

type Finding = Pick<Decision, 'evaluator' | 'action' | 'reasonCode'> &
  Partial<
    Pick<Decision, 'managedService' | 'packId' | 'match' | 'failureDisposition' | 'transformation'>
  >
type Decide = (
  finding: Finding & { readonly texts: readonly string[]; readonly latencyMs: number },
) => Decision

function decider(
  { scope, mode }: EnginePolicy,
  { phase, requestId, mcpInvocationId }: GuardedOperation,
  { now }: EngineTools,
  decisions: Decision[],
): Decide {
  // Several evaluators judge the same texts.
  let hashed: readonly string[] | undefined
  let hash = ''
  return ({ texts, latencyMs, ...finding }) => {
    if (texts !== hashed) [hashed, hash] = [texts, sha256(texts)]
    const occurredAt = now()
    const decision: Decision = {
      id: Bun.randomUUIDv7('hex', occurredAt),
      occurredAt,
      requestId,
      mcpInvocationId,
      phase,
      scope,
      mode,
      managedService: undefined,
      packId: undefined,
      match: undefined,
      failureDisposition: undefined,
      transformation: 'none',
      ...finding,
      latencyMs,
      contentSha256: hash,
    }
    decisions.push(decision)
    return decision
  }
}

/** Judges call by call; returns the decision that denies, if any. */
async function judgeByPacks(
  packs: readonly RunningPack[],
  operation: GuardedOperation,
  mode: Mode,
  tools: EngineTools,
  decide: Decide,
): Promise<Decision | undefined> {
  for (const { texts, input, typed } of inputsOf(operation, tools.terminals)) {
    if (input === undefined) {
      const reasonCode = MALFORMED_ARGUMENTS
      const finding = { evaluator: 'tool_call', action: mode, reasonCode } as const
      const decision = decide({ ...finding, texts, latencyMs: 0 })
      if (mode === 'deny') return decision
      continue
    }
    const turn = turnOf()
    if (turn !== undefined) await turn
    for (const pack of packs) {
      const start = performance.now()
      const asked = askPack(pack, input, tools)
      let found = asked instanceof Promise ? await asked : asked
      if (found.allows && typed !== undefined) found = await askTyped(pack, typed, found, tools)
      const decision = decide({
        evaluator: pack.id,
        packId: pack.id,
        action: found.allows ? 'allow' : mode,
        reasonCode: found.reasonCode,
        match: found.match,
        texts,
        latencyMs: performance.now() - start,
      })
      if (decision.action === 'deny') return decision
    }
  }
  return undefined
}

interface Found {
  readonly allows: boolean
  readonly reasonCode: string
  readonly match: PackMatch | undefined
}

/** Returns a promise only for an isolated pack. */
function askPack(pack: RunningPack, input: GuardInput, tools: EngineTools): Found | Promise<Found> {
  const failed = (thrown: unknown): Found => {
    tools.fault(pack.id, sayable(thrown))
    return { allows: false, reasonCode: UNINSPECTABLE, match: undefined }
  }
  if ('isolation' in pack) return pack.evaluate(input).then(foundBy, failed)
  const start = performance.now()
  try {
    const match: unknown = pack.evaluate(input)
    // A promise is not a verdict. It is not awaited, so catch its rejection here.
    if (match instanceof Promise) match.catch(() => {})
    return foundBy(match as PackMatch | undefined)
  } catch (thrown) {
    return failed(thrown)
  } finally {
    countVerdict(performance.now() - start)
  }
}

/**
 * Judges a piece of terminal text together with the earlier pieces. If the earlier pieces alone are
 * denied, judges only the new piece.
 */
async function askTyped(
  pack: RunningPack,
  { whole, before }: Typed,
  alone: Found,
  tools: EngineTools,
): Promise<Found> {
  const found = await askPack(pack, whole, tools)
  if (found.allows) return alone
  return (await askPack(pack, before, tools)).allows ? found : alone
}

function foundBy(match: PackMatch | undefined): Found {
  if (match === undefined) return { allows: true, reasonCode: DETERMINISTIC_ALLOW, match }
  const { reasonCode, ruleId } = match
  if (typeof reasonCode === 'string' && typeof ruleId === 'string') {
    return { allows: false, reasonCode, match }
  }
  throw new PackFailure('the pack did not return a verdict')
}

/** An error that may be logged; the message of a pack's own error may quote the input. */
function sayable(thrown: unknown): Error {
  if (thrown instanceof PackFailure) return thrown
  return new Error(`the pack threw ${thrown instanceof Error ? thrown.name : typeof thrown}`)
}

function checkFinding(
  { name, kind, disposition }: RunningCheck,
  outcome: CheckOutcome,
  after: GuardedContent | undefined,
  mode: Mode,
): Finding {
  const by = { evaluator: name, managedService: kind }
  if (outcome.kind === 'allow') return { ...by, action: 'allow', reasonCode: MANAGED_ALLOW }
  if (outcome.kind === 'deny') return { ...by, action: mode, reasonCode: outcome.reasonCode }
  if (after !== undefined) {
    const reasonCode = MANAGED_TRANSFORMED
    return { ...by, action: 'transformed', reasonCode, transformation: 'applied' }
  }
  const fits = outcome.kind === 'failure' && outcome.reason !== INVALID_TRANSFORMATION
  return {
    ...by,
    action: disposition === 'fail_closed' ? mode : 'audit',
    reasonCode: outcome.kind === 'failure' ? outcome.reason : INVALID_TRANSFORMATION,
    failureDisposition: disposition,
    transformation: fits ? 'none' : 'rejected',
  }
}

/** Whether any evaluator of a policy covers a phase. */
export function covers({ packs, checks }: EnginePolicy, phase: GuardPhase): boolean {
  return [...packs, ...checks].some(({ phases }) => phases.includes(phase))
}
