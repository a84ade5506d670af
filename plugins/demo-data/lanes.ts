import { weighted } from './random.ts'
import { type HarnessSums, type LedgerSums, noLedgerSums, statuses } from './tally.ts'
import { type DemoModel, type DemoOwner, harnesses, models } from './world.ts'

/** An owner as stored. */
export interface OwnerRow extends DemoOwner {
  readonly id: string
  readonly teamId: string
  readonly apiKeyId: string
}

/** Requests of one owner for one model: common column values and running sums. */
export interface Lane {
  readonly owner: OwnerRow
  readonly model: DemoModel
  readonly tools: boolean
  /** Coding agent. */
  readonly label: string
  /**
   * Prepared text of the columns `ledgerHead` and `logHead`; `refusedText` is `logText` without a
   * provider.
   */
  readonly ledgerText: string
  readonly logText: string
  readonly refusedText: string
  /** The `metadata_json` of a buffered reply and of a stream. */
  readonly metadata: readonly [buffered: string, stream: string]
  readonly attemptText: string
  /** Keys and values of the tags of every request. */
  readonly tags: readonly string[]
  /** Sums of the current day, by half day and status. */
  ledger: LedgerSums[]
  /** Sums of the current day, by half day. */
  harness: HarnessSums[]
}

export const ledgerHead = [
  'ownership_scope_key',
  'owner_kind',
  'user_id',
  'service_account_id',
  'team_id',
  'api_key_id',
  'operation',
  'model_key',
  'resolved_model_key',
  'provider_key',
  'upstream_model',
  'pricing_provider_id',
  'pricing_model',
]
export const logHead = [
  'owner_kind',
  'user_id',
  'team_id',
  'service_account_id',
  'api_key_id',
  'service',
  'component',
  'env',
  'user_agent',
  'agent_harness_key',
  'agent_harness_label',
  'config_version',
  'operation',
  'model_key',
  'resolved_model_key',
  'provider_key',
  'upstream_model',
]
export const attemptHead = [
  'attempt_number',
  'provider_key',
  'provider_type',
  'route_id',
  'upstream_model',
]

export const NULL = '\\N'
const tabbed = (...cells: readonly (string | undefined)[]) =>
  cells.map((cell) => cell ?? NULL).join('\t')

const policy = {
  capture_mode: 'redacted_payloads',
  request_max_bytes: 65_536,
  response_max_bytes: 65_536,
  stream_max_events: 128,
  version: 'builtin:v1',
}

function createLane(owner: OwnerRow, model: DemoModel): Lane {
  const user = owner.kind === 'user'
  const { label, userAgent, tools } = harnesses[owner.harness]
  const { service } = owner
  const env = owner.name.endsWith('-staging') ? 'staging' : 'prod'
  const ids = [user ? owner.id : undefined, user ? undefined : owner.id] as const
  const tagged = service !== undefined
  const front = [owner.kind, ids[0], owner.teamId, ids[1], owner.apiKeyId]
  const caller = [service, tagged ? 'worker' : undefined, tagged ? env : undefined, userAgent]
  const { operation, modelKey, resolvedModelKey, provider, upstreamModel } = model
  const asked = [owner.harness, label, 'demo', operation, modelKey]
  const metadata = (stream: boolean) =>
    JSON.stringify({ operation, stream, payload_policy: policy })
  return {
    owner,
    model,
    tools: tools && operation !== 'embeddings',
    label,
    ledgerText: tabbed(
      `${owner.kind}:${owner.id}`,
      owner.kind,
      ...ids,
      user ? undefined : owner.teamId,
      owner.apiKeyId,
      operation,
      modelKey,
      resolvedModelKey,
      provider,
      upstreamModel,
      model.rates === undefined ? undefined : provider,
      upstreamModel,
    ),
    logText: tabbed(...front, ...caller, ...asked, resolvedModelKey, provider, upstreamModel),
    refusedText: tabbed(...front, ...caller, ...asked, resolvedModelKey, undefined, undefined),
    metadata: [metadata(false), metadata(true)],
    attemptText: tabbed(
      '1',
      provider,
      model.providerType,
      `${resolvedModelKey}/${provider}/${upstreamModel}`,
      upstreamModel,
    ),
    tags: tagged ? [`service\t${service}`, 'component\tworker', `env\t${env}`] : [],
    ledger: [],
    harness: [],
  }
}

/** Resets the sums for another day. */
export function resetLane(lane: Lane): void {
  lane.ledger = Array.from({ length: 2 * statuses.length }, noLedgerSums)
  lane.harness = Array.from({ length: 2 }, () => ({
    requests: 0,
    exposed: 0,
    exposedRequests: 0,
    invoked: 0,
    invokedRequests: 0,
  }))
}

type Draw = (random: () => number) => Lane

/** All lanes, and functions that draw a lane of users or of service accounts. */
export function createLanes(owners: readonly OwnerRow[]): {
  readonly lanes: readonly Lane[]
  readonly ofUsers: Draw
  readonly ofAccounts: Draw
} {
  const shares = owners.flatMap((owner) =>
    owner.models.map((name, place) => ({
      lane: createLane(owner, models[name]),
      share: owner.weight / (place + 1),
    })),
  )
  const drawOf = (kind: OwnerRow['kind']): Draw => {
    const draw = weighted(
      shares.filter(({ lane }) => lane.owner.kind === kind),
      ({ share }) => share,
    )
    return (random) => draw(random).lane
  }
  return {
    lanes: shares.map(({ lane }) => lane),
    ofUsers: drawOf('user'),
    ofAccounts: drawOf('service_account'),
  }
}
