import {
  type GuardedOperation,
  type GuardPolicies,
  type GuardPolicy,
  guardPhases,
} from 'model-gateway/guardrail'
import type { ConfigSnapshot } from 'model-gateway/host'
import { ConfigError, type ConfigPath, inTime, type Static } from 'model-gateway/plugin'
import {
  type CheckEntry,
  guardrails,
  type PolicyOverride,
  type PolicySettings,
  retentionMs,
} from './config.ts'
import type { ManagedCheck, ManagedCheckKind, RunningPack } from './contract.ts'
import { type Decision, denialMessage, refusalText } from './decision.ts'
import { covers, type EnginePolicy, type EngineTools, type Judgement, judge } from './engine.ts'
import { createTurns, disposeChecks, MAKE_DEADLINE_MS, type RunningCheck } from './managed.ts'
import { routeKey, routeKeys } from './route-keys.ts'

/** Texts that one check judges at once. */
const TEXTS_AT_ONCE = 16

export const GLOBAL = 'global'

/** The policy of one scope, enabled or not. */
export interface ScopedPolicy extends EnginePolicy {
  readonly settings: PolicySettings
}

/** The guardrails of one config. */
export interface CompiledPolicies extends GuardPolicies {
  readonly configVersion: string
  readonly retentionMs: number
  /** By scope: the global policy first, then each scope in the config. */
  readonly scopes: ReadonlyMap<string, ScopedPolicy>
  readonly checks: readonly RunningCheck[]
  /** Judges an operation by one of these policies, even if it is disabled. */
  judge(policy: ScopedPolicy, operation: GuardedOperation, keep: Keep): Promise<Judgement>
  dispose(): Promise<void>
}

/** Whether the decisions are recorded. */
export type Keep = 'record' | 'forget'

export interface CompileTools extends EngineTools {
  readonly packs: readonly RunningPack[]
  readonly kinds: readonly ManagedCheckKind[]
  /**
   * Deadline in milliseconds to create or dispose a check, and to prepare a pack. Default 10 000.
   */
  readonly makeDeadlineMs?: number
  record(decisions: readonly Decision[], configVersion: string): void
}

/** Throws ConfigError after it has disposed everything. */
export async function compilePolicies(
  snapshot: ConfigSnapshot,
  tools: CompileTools,
): Promise<CompiledPolicies> {
  const section = snapshot.section(guardrails)
  const checks = await createChecks(section.managed_checks, tools)
  const scopes = new Map<string, ScopedPolicy>()
  try {
    const { default: settings, model_routes, mcp_servers } = section
    scopes.set(GLOBAL, resolvePolicy(GLOBAL, settings, tools.packs, checks))
    for (const [prefix, overrides] of [
      ['model_route', model_routes],
      ['mcp_server', mcp_servers],
    ] as const) {
      for (const [key, override] of Object.entries(overrides)) {
        const scope = `${prefix}:${key}`
        const merged = mergePolicy(settings, override)
        scopes.set(scope, resolvePolicy(scope, merged, tools.packs, checks))
      }
    }
    const used = new Set([...scopes.values()].flatMap(({ packs }) => packs))
    const prepare = (pack: RunningPack) =>
      orProblem(
        async () => pack.prepare?.(),
        tools,
        [guardrails.name],
        `preparing the pack ${pack.id}`,
      )
    await Promise.all([...used].map(prepare))
  } catch (error) {
    await disposeChecks(checks, tools.makeDeadlineMs).catch(() => {})
    throw error
  }
  const work = createWork()
  const judgeBy: CompiledPolicies['judge'] = async (policy, operation, keep) => {
    const judgement = await work.run(() => judge(policy, operation, tools))
    if (keep === 'record') tools.record(judgement.decisions, snapshot.version)
    return judgement
  }
  const guards = new Map<string, GuardPolicy>()
  for (const [scope, policy] of scopes) {
    if (policy.settings.enabled) guards.set(scope, guardOf(policy, judgeBy))
  }
  const routes = routeKeys(
    snapshot.models.keys(),
    [...snapshot.models.values()].flatMap((model) => model.routes),
  )
  const find = (...named: readonly string[]) =>
    guards.get(named.find((scope) => scopes.has(scope)) ?? GLOBAL)
  let disposed: Promise<void> | undefined
  return {
    configVersion: snapshot.version,
    retentionMs: retentionMs(section.decisions_retention),
    scopes,
    checks,
    judge: judgeBy,
    global: guards.get(GLOBAL),
    forRoute(model, provider, upstreamModel) {
      const route = { model, provider, upstreamModel }
      return find(`model_route:${routeKey(route)}`, `model_route:${routes.origin(route)}`)
    },
    forServer: (serverKey) => find(`mcp_server:${serverKey}`),
    dispose() {
      disposed ??= work.done().then(() => disposeChecks(checks, tools.makeDeadlineMs))
      return disposed
    },
  }
}

/** The default policy with the fields of an override. */
export function mergePolicy(settings: PolicySettings, override: PolicyOverride): PolicySettings {
  return { ...settings, ...override }
}

function resolvePolicy(
  scope: string,
  settings: PolicySettings,
  packs: readonly RunningPack[],
  checks: readonly RunningCheck[],
): ScopedPolicy {
  const path = [guardrails.name]
  return {
    scope,
    mode: settings.mode,
    settings,
    packs: settings.packs.map((name) => {
      const pack = packs.find(({ id, aliases = [] }) => id === name || aliases.includes(name))
      if (pack === undefined) {
        throw new ConfigError([{ path, message: `no plugin provides the pack ${name}` }])
      }
      return pack
    }),
    checks: settings.managed_checks.map((wanted) => {
      const check = checks.find(({ name }) => name === wanted)
      if (check === undefined) throw new Error(`the managed check ${wanted} was not created`)
      return check
    }),
  }
}

async function createChecks(
  entries: Static<typeof guardrails.schema>['managed_checks'],
  tools: CompileTools,
): Promise<readonly RunningCheck[]> {
  const checks: RunningCheck[] = []
  try {
    for (const [name, entry] of Object.entries(entries)) {
      // The entry may name its kind by an alias, but its settings have the neutral name.
      const own = tools.kinds.find(({ kind }) => Object.hasOwn(entry, kind))
      if (own === undefined) {
        const path = [guardrails.name, 'managed_checks', name, 'kind']
        throw new ConfigError([{ path, message: `no plugin provides the kind ${entry.kind}` }])
      }
      checks.push({
        name,
        kind: own.kind,
        phases: entry.phases,
        timeoutMs: entry.timeout_ms,
        disposition: entry.failure_disposition,
        maxContentBytes: entry.max_content_bytes,
        check: await createCheck(name, own, entry as CheckEntry, tools),
        turns: createTurns(TEXTS_AT_ONCE),
      })
    }
  } catch (error) {
    await disposeChecks(checks, tools.makeDeadlineMs).catch(() => {})
    throw error
  }
  return checks
}

async function createCheck(
  name: string,
  own: ManagedCheckKind,
  entry: CheckEntry,
  tools: CompileTools,
): Promise<ManagedCheck> {
  const path = [guardrails.name, 'managed_checks', name]
  const making = Promise.try(() => own.create(entry[own.kind]))
  const create = async () => {
    const made: Partial<ManagedCheck> | undefined = await making
    if (typeof made?.evaluate !== 'function') throw new Error('its kind did not return a check')
    return made as ManagedCheck
  }
  try {
    return await orProblem(create, tools, path, `creating the check (kind ${own.kind})`)
  } catch (error) {
    making.then((late) => late?.dispose?.()).catch(() => {})
    throw error
  }
}

/** Converts an error or a timeout to a config problem that names the failed step. */
async function orProblem<T>(
  work: () => Promise<T>,
  { makeDeadlineMs = MAKE_DEADLINE_MS }: CompileTools,
  path: ConfigPath,
  doing: string,
): Promise<T> {
  try {
    const done = await inTime(work(), makeDeadlineMs)
    if (done !== undefined) return done.value
    throw new Error(`did not finish within ${makeDeadlineMs} ms`)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError([{ path, message: `${doing} failed: ${reason}` }])
  }
}

function guardOf(policy: ScopedPolicy, judgeBy: CompiledPolicies['judge']): GuardPolicy {
  const { settings, scope } = policy
  const covered = new Set(guardPhases.filter((phase) => covers(policy, phase)))
  return {
    scope,
    streamBufferBytes: settings.stream_buffer_bytes,
    streamBufferTimeoutMs: settings.stream_buffer_timeout_ms,
    covers: (phase) => covered.has(phase),
    async inspect(operation) {
      if (!covered.has(operation.phase)) return { action: 'allow' }
      const { decisions, denial, content } = await judgeBy(policy, operation, 'record')
      if (denial !== undefined) {
        const refusal = settings.on_deny === 'refusal' ? refusalText(denial) : undefined
        return {
          action: 'deny',
          decisionId: denial.id,
          reasonCode: denial.reasonCode,
          message: denialMessage(denial),
          ...(refusal !== undefined && { refusal }),
          ...(denial.match !== undefined && { rule: denial.match }),
        }
      }
      const decisionId = decisiveOf(decisions)?.id
      return {
        action: 'allow',
        ...(decisionId !== undefined && { decisionId }),
        ...(content !== undefined && { content }),
      }
    },
  }
}

const WEIGHT = { deny: 3, audit: 2, transformed: 1, allow: 0 } as const

/** The most significant decision about an operation; of equal ones the first. */
export function decisiveOf(decisions: readonly Decision[]): Decision | undefined {
  return decisions.reduce<Decision | undefined>(
    (best, decision) =>
      best === undefined || WEIGHT[decision.action] > WEIGHT[best.action] ? decision : best,
    undefined,
  )
}

/** Tracks running judgements. */
interface Work {
  run<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when nothing runs. */
  done(): Promise<void>
}

function createWork(): Work {
  let running = 0
  const idle = new Set<() => void>()
  return {
    async run(work) {
      running += 1
      try {
        return await work()
      } finally {
        running -= 1
        if (running === 0) for (const tell of idle) tell()
      }
    },
    async done() {
      if (running > 0) await new Promise<void>((resolve) => idle.add(resolve))
    },
  }
}
