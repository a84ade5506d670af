import type { CommandSpec } from 'model-gateway/plugin'

export const guardCommand: CommandSpec = {
  name: 'guard',
  summary:
    'Answers the hook of a coding agent before it uses a tool: reads its JSON, asks the gateway.',
  usage:
    '--format claude_code|codex|gemini_cli|copilot_cli [--when-away closed|open] [--mode deny|audit] [--timeout-ms N] [--proxy URL] [--ca-file FILE]',
  standalone: true,
}
