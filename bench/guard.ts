import { createTestDatabase } from '../test/harness/database.ts'
import { adaKey } from '../test/harness/gateway.ts'
import { spawnGateway } from '../test/harness/process.ts'
import { MODEL } from './gateways.ts'
import { startService } from './machine.ts'
import { measure, type Row, spread, type Target } from './measure.ts'
import { chatBody } from './rows.ts'

/**
 * What a route costs that no policy covers: CPU microseconds a request of a gateway without the guardrail
 * plugin, of one with it but without a policy, and of one whose policies cover another route. All three are
 * ungoverned, so that next to nothing else is in the figures. Run it: `bun bench/guard.ts`.
 */
const PASSES = 15
const row: Row = {
  id: 'buffered',
  title: 'buffered',
  body: chatBody(),
  count: 4000,
  warmUp: 15_000,
  concurrency: 32,
}
const packs = ['core.shell', 'core.git', 'core.filesystem'] as const
const withGuard = ['guardrails', 'core-shell', 'core-git', 'core-filesystem']

type Variant = 'absent' | 'no policy' | 'another route'

function config(variant: Variant, upstreamUrl: string) {
  const plugins = ['identity', 'generic-compat', ...(variant === 'absent' ? [] : withGuard)]
  const policy = { enabled: true, mode: 'deny', packs }
  const route = (model: string) => ({
    id: model,
    routes: [{ provider: 'upstream', upstream_model: 'gpt-4.1-mini' }],
  })
  return {
    server: { ungoverned: true },
    plugins: plugins.map((name) => ({ use: `builtin:${name}` })),
    providers: [
      {
        id: 'upstream',
        type: 'generic_compat',
        base_url: `${upstreamUrl}/v1`,
        auth: { mode: 'bearer', token: 'literal.upstream' },
        pricing_provider_id: 'openai',
      },
    ],
    models: [route(MODEL), route('guarded')],
    ...(variant === 'another route'
      ? { guardrails: { model_routes: { 'guarded/upstream/gpt-4.1-mini': policy } } }
      : {}),
  }
}

await using started = new AsyncDisposableStack()
const upstream = await startService('./upstream.ts')
started.defer(upstream.stop)
const targets: Target[] = []
for (const variant of ['absent', 'no policy', 'another route'] as const) {
  const database = await createTestDatabase()
  started.defer(database.drop)
  const gateway = await spawnGateway(config(variant, upstream.url), { databaseUrl: database.url })
  started.defer(async () => {
    await gateway.end()
    await gateway.remove()
  })
  const headers = { authorization: `Bearer ${adaKey}` }
  const url = `${gateway.url}/v1/chat/completions`
  targets.push({ name: variant, url, pid: gateway.pid, headers })
}

const micros = new Map<string, number[]>(targets.map(({ name }) => [name, []]))
for (const target of targets) await measure({ ...row, count: row.warmUp }, target, 0, [])
for (let pass = 1; pass <= PASSES; pass++) {
  // Whoever comes first in one pass comes last in the next.
  for (const target of pass % 2 === 0 ? targets : targets.toReversed()) {
    const { cpuMicros } = await measure(row, target, pass, [])
    micros.get(target.name)?.push(cpuMicros)
  }
}
const without = micros.get('absent') ?? []
for (const [name, values] of micros) {
  const cpu = spread(values)
  const ratio = spread(values.map((value, pass) => value / (without[pass] ?? Number.NaN)))
  const text = [ratio.median, ratio.min, ratio.max].map((each) => each.toFixed(3)).join(' / ')
  console.log(`${name.padEnd(14)} ${cpu.median.toFixed(1)} µs of CPU a request, ratio ${text}`)
}
