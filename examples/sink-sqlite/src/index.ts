import { join } from 'node:path'
import { accountingSinks } from 'model-gateway/accounting'
import { commands, definePlugin, strictObject, Type } from 'model-gateway/plugin'
import { spendCommand, spendReport } from './report.ts'
import { createSink } from './sink.ts'
import { openStore } from './store.ts'

export default definePlugin({
  manifest: {
    id: 'accounting-sink.sqlite',
    version: '1.0.0',
    contract: 1,
    summary: 'Copies each settled call to a SQLite file, and reports spend from it.',
    config: strictObject({
      file: Type.String({
        pattern: '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$',
        default: 'calls.sqlite',
      }),
    }),
    commands: [spendReport],
    needs: ['files'],
  },
  setup(ctx) {
    // `gateway spend-report` also sets up the plugin, in a separate process.
    const store = openStore(join(ctx.files.directory(), ctx.config.file))
    ctx.provide(accountingSinks, createSink(store))
    ctx.provide(commands, spendCommand(store))
    return store.close
  },
})
