import { bareConfig, comparePaired } from './paired.ts'

/**
 * What a route costs that no policy covers: a gateway without the guardrail plugin beside one with it but
 * without a policy, and one whose policies cover another route. Run it: `bun bench/guard.ts`.
 */
const packs = ['core.shell', 'core.git', 'core.filesystem']
const plugins = ['guardrails', 'core-shell', 'core-git', 'core-filesystem'].map(
  (name) => `builtin:${name}`,
)
const policy = { enabled: true, mode: 'deny', packs }
const models = ['guarded']
/** How wide the answer may be, as a share of what a request costs. */
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
// Two processes of the same gateway differ, too, since the engine compiles each of them in its own way.
const chance = Math.max(Math.abs(control?.low ?? 0), Math.abs(control?.high ?? 0))
for (const { name, median, low, high, of } of differences) {
  const costs = low > 0 && median > chance
  const precise = high - low < of * PRECISION
  const answer = costs ? 'COSTS' : precise ? 'no measurable cost' : 'UNDECIDED, too noisy'
  console.log(`${name}: ${answer}`)
  if (costs || !precise) process.exitCode = 1
}
