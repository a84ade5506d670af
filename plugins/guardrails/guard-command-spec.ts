import type { CommandSpec } from 'model-gateway/plugin'

const agents = 'claude-code|codex|gemini-cli|copilot-cli'
const hookOptions =
  '[--when-away closed|open] [--mode deny|audit] [--timeout-ms N] [--proxy URL] [--ca-file FILE]'

export const guardCommand: CommandSpec = {
  name: 'guard',
  summary: 'Runs as the pre-tool hook of a coding agent: reads its JSON and asks the gateway',
  usage: `--format claude_code|codex|gemini_cli|copilot_cli ${hookOptions}`,
  standalone: true,
}

export const setupCommands: readonly CommandSpec[] = [
  {
    name: 'guard install',
    summary: 'Adds the hook to the settings of a coding agent, for this folder or for the user',
    usage: `${agents} [--user] [--print] ${hookOptions}`,
    standalone: true,
  },
  {
    name: 'guard uninstall',
    summary: 'Removes the hook from the settings of a coding agent',
    usage: `${agents} [--user] [--print]`,
    standalone: true,
  },
  {
    name: 'guard doctor',
    summary:
      'Checks that the hook of a coding agent runs, allows and blocks, and reports what is wrong',
    usage: `${agents} [--user]`,
    standalone: true,
  },
]
