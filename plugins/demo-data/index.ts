import { commands, definePlugin, Type } from 'model-gateway/plugin'
import { createSeedCommand, seedDemo } from './command.ts'
import { createOwnerStore } from './owner-store.ts'
import { createStore } from './store.ts'

const SHOW_EVERY_MS = 200

/** Sample data for trying the control plane, and for load tests. */
export default definePlugin({
  manifest: {
    id: 'plugin.demo-data',
    version: '0.1.0',
    contract: 1,
    summary: 'The command that fills a database with 31 days of sample traffic.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: ['database', 'clock'],
    requires: ['plugin.identity', 'plugin.accounting', 'plugin.request-log'],
    commands: [seedDemo],
  },
  setup({ database, clock, provide }) {
    let shownAt = Number.NEGATIVE_INFINITY
    /** Only on a terminal, and not for every chunk. */
    function progress(text: string): void {
      if (!process.stderr.isTTY) return
      const now = performance.now()
      if (text !== '\n' && now - shownAt < SHOW_EVERY_MS) return
      shownAt = now
      process.stderr.write(text)
    }
    provide(
      commands,
      createSeedCommand(
        { ...createStore(database), ...createOwnerStore(database) },
        clock,
        progress,
      ),
    )
  },
})
