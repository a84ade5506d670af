import { bareConfig, comparePaired } from './paired.ts'

/**
 * `bun bench/guard.ts`: what guardrails cost on a route without a policy. Compares a gateway
 * without the guardrail plugin with one that has it and no policy, and one whose policies cover
 * another route.
 */
const packs = ['core.shell', 'core.git', 'core.filesystem']
const plugins = ['guardrails', 'core-shell', 'core-git', 'core-filesystem'].map(
  (name) => `builtin:${name}`,
)
const policy = { enabled: true, mode: 'deny', packs }
const models = ['guarded']
/** Maximum width of the interval, as a share of the cost of a request. */
const PRECISION = 0.1

const absent = (upstream: string) => bareConfig(upstream, { plugins: [], models })
const [control, ...differences] = await comparePaired({
  absent,
  'absent again': absent,
  'no policy': (upstream) => bareConfig(upstream, { plugins, models }),
  'another route': (upstream) => ({
    ...bareConfig(upstream, { plugins, models }),
    guardrails: { model_routes: { 'guarded/upstream/gpt-4.1-mini': policy } },
  }),
})
// Two processes of the same gateway differ, too, because the engine compiles each differently.
const chance = Math.max(Math.abs(control?.low ?? 0), Math.abs(control?.high ?? 0))
for (const { name, median, low, high, of } of differences) {
  const costs = low > 0 && median > chance
  const precise = high - low < of * PRECISION
  const answer = costs ? 'COSTS' : precise ? 'no measurable cost' : 'UNDECIDED, too noisy'
  console.log(`${name}: ${answer}`)
  if (costs || !precise) process.exitCode = 1
}
