import type { CommandSpec } from 'model-gateway/plugin'

const agents = 'claude-code|codex|gemini-cli|copilot-cli'
const hookOptions =
  '[--when-away closed|open] [--mode deny|audit] [--timeout-ms N] [--proxy URL] [--ca-file FILE]'

export const guardCommand: CommandSpec = {
  name: 'guard',
  summary:
    'Answers the hook of a coding agent before it uses a tool: reads its JSON, asks the gateway.',
  usage: `--format claude_code|codex|gemini_cli|copilot_cli ${hookOptions}`,
  standalone: true,
}

export const setupCommands: readonly CommandSpec[] = [
  {
    name: 'guard install',
    summary:
      'Writes that hook into the settings of a coding agent: of this folder, or of the user.',
    usage: `${agents} [--user] [--print] ${hookOptions}`,
    standalone: true,
  },
  {
    name: 'guard uninstall',
    summary: 'Takes the hook out of the settings of a coding agent.',
    usage: `${agents} [--user] [--print]`,
    standalone: true,
  },
  {
    name: 'guard doctor',
    summary: 'Proves that the hook of a coding agent runs, allows and blocks; says what is wrong.',
    usage: `${agents} [--user]`,
    standalone: true,
  },
]
