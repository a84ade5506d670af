import { type Static, Type } from 'model-gateway/plugin'
import type { CompatEndpoint } from './compat-http.ts'
import { type ClaudeName, claudeName } from './reasoning-tiers.ts'

/** A cloud that serves Claude and supports only some of Anthropic's betas. */
type Reseller = 'vertex' | 'bedrock' | 'bedrock_edge'

/** Anthropic, a cloud with its models, or another vendor with the same API. */
export type ClaudeCloud = 'vendor' | Reseller | 'foreign'

type Version = readonly [major: number, minor: number]

/** A beta that a cloud supports, for a range of model versions. */
interface Taken {
  readonly beta: string
  /** The beta's name on the cloud. */
  readonly as?: readonly string[]
  readonly from?: Version
  readonly below?: Version
  readonly lines?: readonly ClaudeName['line'][]
}

const LARGER = ['opus', 'sonnet'] as const

const everywhere: readonly Taken[] = [
  { beta: 'compact-2026-01-12' },
  { beta: 'computer-use-2025-01-24' },
  { beta: 'computer-use-2025-11-24' },
  { beta: 'context-1m-2025-08-07', from: [4, 0] },
  { beta: 'context-management-2025-06-27', from: [4, 0] },
  { beta: 'dangerous-tool-use-2026-09-03' },
  { beta: 'thinking-binding-controls-2026-08-01' },
  { beta: 'thinking-display-updates-2026-08-18' },
]

const bedrock: readonly Taken[] = [
  ...everywhere,
  {
    beta: 'advanced-tool-use-2025-11-20',
    as: ['tool-search-tool-2025-10-19', 'tool-examples-2025-10-29'],
    from: [4, 5],
    lines: LARGER,
  },
  { beta: 'computer-use-2024-10-22', below: [4, 0] },
  { beta: 'dev-full-thinking-2025-05-14', from: [4, 0] },
  { beta: 'effort-2025-11-24', from: [4, 5], lines: LARGER },
  { beta: 'fine-grained-tool-streaming-2025-05-14' },
  { beta: 'output-128k-2025-02-19', below: [4, 0] },
  { beta: 'token-efficient-tools-2025-02-19', below: [4, 5] },
  { beta: 'tool-examples-2025-10-29', from: [4, 5], lines: LARGER },
  { beta: 'tool-search-tool-2025-10-19', from: [4, 5], lines: LARGER },
]

/**
 * Betas that the clouds support, from their docs and from reports of "invalid beta flag" and
 * "Unexpected value(s) for the `anthropic-beta` header": anthropics/claude-code#21625, #49370,
 * #56595, BerriAI/litellm's table of betas, and Amazon's pages on Claude parameters.
 */
const TAKEN: Readonly<Record<Reseller, readonly Taken[]>> = {
  vertex: [
    ...everywhere,
    { beta: 'advanced-tool-use-2025-11-20', as: ['tool-search-tool-2025-10-19'] },
    { beta: 'compact-2026-09-04' },
    { beta: 'interleaved-thinking-2025-05-14', from: [4, 0] },
    { beta: 'per-turn-control-2026-07-01' },
    { beta: 'tool-search-tool-2025-10-19' },
    { beta: 'web-search-2025-03-05' },
  ],
  bedrock: [
    ...bedrock,
    // Later models interleave thinking by default, and refuse this beta.
    { beta: 'interleaved-thinking-2025-05-14', from: [4, 0], below: [4, 7] },
    { beta: 'mid-conversation-output-config-2026-07-01' },
    { beta: 'mid-conversation-tool-changes-2026-07-01' },
  ],
  bedrock_edge: [
    ...bedrock,
    { beta: 'claude-code-20250219' },
    { beta: 'interleaved-thinking-2025-05-14' },
    { beta: 'output-128k-2025-02-19' },
    { beta: 'per-turn-control-2026-07-01' },
    { beta: 'structured-outputs-2025-11-13' },
    { beta: 'token-efficient-tools-2025-02-19' },
    { beta: 'web-search-2025-03-05' },
  ],
}

/** Changes a route's betas relative to those that its cloud supports. */
export const betasSchema = Type.Object(
  {
    add: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description: 'Betas that are sent with each call of the messages API',
      }),
    ),
    remove: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { description: 'Betas that are never sent' }),
    ),
  },
  {
    additionalProperties: false,
    description: 'Anthropic betas: changes the list of betas that the cloud supports',
  },
)
export type RouteBetas = Static<typeof betasSchema>

export interface SentBetas {
  readonly sent: readonly string[]
  readonly dropped: readonly string[]
}

/** The caller's betas that are sent to a model on a cloud, in order. */
export function betasFor(
  cloud: ClaudeCloud,
  upstreamModel: string,
  named: readonly string[],
  { add = [], remove = [] }: RouteBetas = {},
): SentBetas {
  const model = claudeName(upstreamModel)
  // Anthropic, and services that copy its API, validate betas themselves.
  const taken = cloud === 'vendor' || cloud === 'foreign' ? undefined : TAKEN[cloud]
  const sent = new Set<string>()
  const dropped: string[] = []
  for (const beta of named) {
    const row = taken?.find((each) => each.beta === beta && fits(model, each))
    const isTaken = taken === undefined || row !== undefined || add.includes(beta)
    const names = row?.as ?? (isTaken ? [beta] : [])
    const left = names.filter((name) => !remove.includes(name) && !remove.includes(beta))
    for (const name of left) sent.add(name)
    if (left.length === 0) dropped.push(beta)
  }
  for (const beta of add) sent.add(beta)
  return { sent: [...sent], dropped }
}

/** Treats a model without a version in its name as a new one. */
function fits(model: ClaudeName | undefined, { from, below, lines }: Taken): boolean {
  if (model === undefined) return below === undefined
  if (lines !== undefined && !lines.includes(model.line)) return false
  if (from !== undefined && isBefore(model, from)) return false
  return below === undefined || isBefore(model, below)
}

function isBefore({ major, minor }: ClaudeName, [toMajor, toMinor]: Version): boolean {
  return major < toMajor || (major === toMajor && minor < toMinor)
}

const BETA_HEADER = 'anthropic-beta'

/** The call's betas plus the configured ones. */
export function withBetas(endpoint: CompatEndpoint, betas: readonly string[]): CompatEndpoint {
  if (betas.length === 0) return endpoint
  const configured = endpoint.headers[BETA_HEADER]?.split(',').map((beta) => beta.trim()) ?? []
  const all = [...new Set([...configured, ...betas])].filter((beta) => beta !== '')
  return { ...endpoint, headers: { ...endpoint.headers, [BETA_HEADER]: all.join(',') } }
}
