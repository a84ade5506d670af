import { type CommandSpec, definePlugin, strictObject } from 'model-gateway/plugin'

export const newPluginCommand: CommandSpec = {
  name: 'plugin new',
  summary: 'Creates a plugin: code, tests, an example config and a README',
  usage:
    'provider|pack|managed-check|mcp-auth-mode|accounting-sink|admin|middleware|surface NAME [--dir DIR] [--gateway PACKAGE]',
  standalone: true,
}

/** Lists `gateway plugin new`; the distribution runs it without a config. */
export default definePlugin({
  manifest: {
    id: 'plugin.plugin-kit',
    version: '0.1.0',
    contract: 1,
    summary: 'Creates plugins from templates.',
    config: strictObject({}),
    commands: [newPluginCommand],
    needs: [],
  },
  setup() {},
})
