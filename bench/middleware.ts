import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seams } from '../kernel/plugin/index.ts'
import { bareConfig, comparePaired } from './paired.ts'

/**
 * `bun bench/middleware.ts`: the cost of twenty middlewares that do nothing, five around each step,
 * compared with a gateway without middlewares.
 */
const EACH = 5
const LIMIT_MICROS = 60

const source = `import { middleware } from 'model-gateway/middleware'
import { definePlugin, Type } from 'model-gateway/plugin'

export default definePlugin({
  manifest: {
    id: 'plugin.nothing',
    version: '1.0.0',
    contract: 1,
    summary: 'Middlewares that do nothing.',
    config: Type.Object({}),
    needs: [],
  },
  setup(ctx) {
    for (const around of ${JSON.stringify(seams)}) {
      for (let n = 0; n < ${EACH}; n++) {
        ctx.provide(middleware, { id: around + n, around, handle: (_, next) => next().then(() => {}) })
      }
    }
  },
})
`
const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
const file = join(folder, 'nothing.ts')
writeFileSync(file, source)
try {
  const [difference] = await comparePaired({
    none: (upstream) => bareConfig(upstream, { plugins: [] }),
    twenty: (upstream) => bareConfig(upstream, { plugins: [file] }),
  })
  const kept = (difference?.median ?? Number.NaN) <= LIMIT_MICROS
  console.log(`twenty middlewares, at most ${LIMIT_MICROS} µs: ${kept ? 'kept' : 'MISSED'}`)
  if (!kept) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
