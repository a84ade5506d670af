import { accounting } from 'model-gateway/accounting'
import { identity } from 'model-gateway/identity'
import { commands, definePlugin, optional, strictObject } from 'model-gateway/plugin'
import { explainCommand, pluginsCommand } from './commands.ts'

/** Shows operators what is loaded, and how a request would be handled. */
export default definePlugin({
  manifest: {
    id: 'plugin.inspect',
    version: '0.1.0',
    contract: 1,
    summary: 'Lists the loaded plugins and explains how the gateway would handle a request.',
    config: strictObject({}),
    commands: [
      {
        name: 'plugins',
        summary:
          'Lists the loaded plugins; --chains adds the middlewares of each step of a request',
        usage: '[--chains] [--json]',
        database: 'empty',
      },
      {
        name: 'explain',
        summary: 'Explains how the gateway would handle a request, without calling a provider',
        usage: '--key KEY --model MODEL [--body FILE] [--surface ID] [--json]',
      },
    ],
    needs: ['inspection', 'clock'],
    uses: { identity, accounting: optional(accounting) },
  },
  setup({ inspection, uses, clock, provide }) {
    provide(commands, pluginsCommand(inspection))
    provide(commands, explainCommand({ inspection, clock, ...uses }))
  },
})
