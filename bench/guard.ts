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

const differences = await comparePaired({
  absent: (upstream) => bareConfig(upstream, { plugins: [], models }),
  'no policy': (upstream) => bareConfig(upstream, { plugins, models }),
  'another route': (upstream) => ({
    ...bareConfig(upstream, { plugins, models }),
    guardrails: { model_routes: { 'guarded/upstream/gpt-4.1-mini': policy } },
  }),
})
for (const { name, low, high, of } of differences) {
  const costs = low > 0
  const precise = high - low < of * PRECISION
  const answer = costs ? 'COSTS' : precise ? 'no measurable cost' : 'UNDECIDED, too noisy'
  console.log(`${name}: ${answer}`)
  if (costs || !precise) process.exitCode = 1
}
