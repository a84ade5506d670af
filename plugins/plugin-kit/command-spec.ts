import type { CommandSpec } from 'model-gateway/plugin'

export const newPluginCommand: CommandSpec = {
  name: 'plugin new',
  summary: 'Writes a plugin to begin with: code, tests, an example config and a README.',
  usage:
    'provider|pack|managed-check|mcp-auth-mode|accounting-sink|admin|middleware NAME [--dir DIR] [--gateway PACKAGE]',
  standalone: true,
}
