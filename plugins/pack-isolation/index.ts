import { isolation } from 'model-gateway/host'
import { definePlugin, strictObject } from 'model-gateway/plugin'
import { createIsolation, isolationFault } from './isolate.ts'

/**
 * Runs packs in threads that execute `worker`, a program that calls `servePacks`. The distribution
 * passes it, because only the distribution knows which built-in packs it imports.
 */
export const packIsolation = (worker: URL) =>
  definePlugin({
    manifest: {
      id: 'plugin.pack-isolation',
      version: '0.1.0',
      contract: 1,
      summary: 'Runs guardrail packs in separate threads (`isolation: worker`).',
      config: strictObject({}),
      needs: [],
      provides: [isolation],
      *isolates(manifest) {
        const fault = isolationFault(manifest)
        if (fault === undefined) return
        const message = `plugin "${manifest.id}" cannot run in a worker: ${fault}`
        const hint =
          'only plugins that provide nothing but guardrail packs can run in a worker; remove isolation'
        yield { path: [], message, hint }
      },
    },
    setup(ctx) {
      ctx.provide(isolation, createIsolation(worker))
    },
  })
