import { createRandom } from './random.ts'

/** The people, programs and models of the demo. */

export interface DemoModel {
  readonly modelKey: string
  readonly resolvedModelKey: string
  readonly provider: string
  readonly providerType: string
  readonly upstreamModel: string
  readonly operation: 'chat_completions' | 'responses' | 'embeddings'
  /** Pico-USD per token; absent: unpriced. */
  readonly rates:
    | { readonly input: number; readonly cacheRead: number; readonly output: number }
    | undefined
  readonly usualPrompt: number
  readonly usualOutput: number
  readonly usualLatencyMs: number
}

const rates = (input: number, cacheRead: number, output: number) => ({ input, cacheRead, output })
const frontier = {
  resolvedModelKey: 'frontier',
  provider: 'cloud-a',
  providerType: 'cloud_a_ml',
  upstreamModel: 'publisher-a/frontier-2',
  operation: 'chat_completions',
  rates: rates(3_000_000, 300_000, 15_000_000),
  usualPrompt: 6_000,
  usualOutput: 500,
  usualLatencyMs: 5_200,
} as const
const balanced = {
  resolvedModelKey: 'balanced',
  provider: 'cloud-b',
  providerType: 'cloud_b_ml',
  upstreamModel: 'publisher-b.balanced-v1',
  operation: 'chat_completions',
  rates: rates(800_000, 80_000, 4_000_000),
  usualPrompt: 2_500,
  usualOutput: 350,
  usualLatencyMs: 2_100,
} as const
const fast = {
  resolvedModelKey: 'fast',
  provider: 'compat-eu',
  providerType: 'generic_compat',
  upstreamModel: 'fast-mini',
  operation: 'chat_completions',
  rates: rates(150_000, 75_000, 600_000),
  usualPrompt: 900,
  usualOutput: 120,
  usualLatencyMs: 700,
} as const

export const models = {
  frontier: { ...frontier, modelKey: 'frontier' },
  balanced: { ...balanced, modelKey: 'balanced' },
  default: { ...balanced, modelKey: 'default' },
  fast: { ...fast, modelKey: 'fast' },
  cheap: { ...fast, modelKey: 'tag:cheap' },
  coder: {
    ...frontier,
    modelKey: 'coder',
    resolvedModelKey: 'coder',
    provider: 'compat-eu',
    providerType: 'generic_compat',
    upstreamModel: 'coder-large',
    operation: 'responses',
    rates: rates(1_250_000, 125_000, 10_000_000),
    usualPrompt: 11_000,
    usualOutput: 700,
    usualLatencyMs: 6_800,
  },
  embed: {
    ...fast,
    modelKey: 'embed',
    resolvedModelKey: 'embed',
    upstreamModel: 'embed-small',
    operation: 'embeddings',
    rates: rates(20_000, 20_000, 0),
    usualPrompt: 400,
    usualOutput: 0,
    usualLatencyMs: 120,
  },
  lab: {
    ...fast,
    modelKey: 'lab',
    resolvedModelKey: 'lab',
    provider: 'lab-gpu',
    upstreamModel: 'lab/experiment-7',
    rates: undefined,
    usualLatencyMs: 1_500,
  },
} as const satisfies Record<string, DemoModel>
export type ModelName = keyof typeof models

export const harnesses = {
  claude_code: {
    label: 'Claude Code',
    userAgent: 'claude-cli/2.1.0 (external, cli)',
    tools: true,
  },
  codex: { label: 'Codex', userAgent: 'codex_cli_rs/0.98.0 (Linux; x86_64)', tools: true },
  opencode: { label: 'OpenCode', userAgent: 'opencode/1.2.10', tools: true },
  cursor: { label: 'Cursor', userAgent: 'Cursor/2.3.1', tools: true },
  aider: { label: 'Aider', userAgent: 'aider/0.92.0', tools: false },
  unknown: { label: 'Unknown', userAgent: 'OpenAI/Python 2.8.1', tools: false },
} as const
export type HarnessKey = keyof typeof harnesses

export interface DemoOwner {
  readonly kind: 'user' | 'service_account'
  readonly name: string
  /** E-mail of a user, key of a service account. */
  readonly key: string
  readonly teamKey: string
  readonly teamRole: 'owner' | 'admin' | 'member'
  /** Its share of the traffic of its kind. */
  readonly weight: number
  readonly models: readonly ModelName[]
  readonly harness: HarnessKey
  readonly service: string | undefined
}

export const teams = [
  { key: 'demo-platform', name: 'Platform' },
  { key: 'demo-search', name: 'Search' },
  { key: 'demo-support', name: 'Support' },
  { key: 'demo-research', name: 'Research' },
  { key: 'demo-finance', name: 'Finance' },
] as const

const first = 'Ada Grace Alan Edsger Barbara Donald Radia Ken Frances Niklaus'.split(' ')
const last = 'Abara Brandt Costa Dubois Eriksen Fontana Gupta Haddad Ivanova Jensen'.split(' ')
const services = 'search-api ticket-triage nightly-report code-review doc-index chat-widget'.split(
  ' ',
)
const USERS = 60
const ACCOUNTS = 12

/** All owners; the same in every run. */
export function demoOwners(): readonly DemoOwner[] {
  const random = createRandom(7)
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T
  const agents = Object.keys(harnesses).filter((key) => key !== 'unknown') as HarnessKey[]
  const favourites: readonly (readonly ModelName[])[] = [
    ['frontier', 'coder'],
    ['coder', 'frontier', 'fast'],
    ['balanced', 'default'],
    ['default', 'cheap', 'frontier'],
    ['lab', 'balanced'],
  ]
  const users = Array.from({ length: USERS }, (_, n): DemoOwner => {
    const given = first[n % first.length] as string
    const family = last[(n * 7 + Math.floor(n / first.length)) % last.length] as string
    return {
      kind: 'user',
      name: `${given} ${family}`,
      key: `${given}.${family}.${n}@demo.example`.toLowerCase(),
      teamKey: (teams[n % teams.length] as (typeof teams)[number]).key,
      teamRole: n < teams.length ? 'owner' : n < 2 * teams.length ? 'admin' : 'member',
      weight: 1 / (n + 3),
      models: pick(favourites),
      harness: random() < 0.8 ? pick(agents) : 'unknown',
      service: undefined,
    }
  })
  const accounts = Array.from({ length: ACCOUNTS }, (_, n): DemoOwner => {
    const service = services[n % services.length] as string
    const name = n < services.length ? service : `${service}-staging`
    return {
      kind: 'service_account',
      name,
      key: `demo-${name}`,
      teamKey: (teams[n % teams.length] as (typeof teams)[number]).key,
      teamRole: 'member',
      weight: 1 / (n + 2),
      models: pick([['fast', 'embed'], ['embed'], ['cheap', 'balanced'], ['default']] as const),
      harness: 'unknown',
      service,
    }
  })
  return [...users, ...accounts]
}
