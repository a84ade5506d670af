import { definePlugin, strictObject } from 'model-gateway/plugin'
import { newPluginCommand } from './command-spec.ts'

/** Lists `gateway plugin new`; the distribution runs it without a config. */
export default definePlugin({
  manifest: {
    id: 'plugin.plugin-kit',
    version: '0.1.0',
    contract: 1,
    summary: 'Writes plugins to begin with.',
    config: strictObject({}),
    commands: [newPluginCommand],
    needs: [],
  },
  setup() {},
})
