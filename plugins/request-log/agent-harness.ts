export interface AgentHarness {
  readonly key: string
  readonly label: string
}

/** What tells a coding agent by its User-Agent, in lower case. The first match counts. */
const harnesses: readonly (AgentHarness & {
  readonly starts?: readonly string[]
  readonly contains?: string
})[] = [
  { key: 'opencode', label: 'OpenCode', starts: ['opencode/'], contains: 'agent/opencode' },
  {
    key: 'claude_code',
    label: 'Claude Code',
    starts: ['claude-cli/', 'claude-code/'],
    contains: 'agent/claude-code',
  },
  { key: 'codex', label: 'Codex', starts: ['codex_cli_rs/', 'codex/'] },
  {
    key: 'gemini_cli',
    label: 'Gemini CLI',
    starts: ['geminicli', 'cloudcodevscode/'],
    contains: 'agent/gemini-cli',
  },
  { key: 'copilot_cli', label: 'Copilot CLI', contains: 'agent/copilot-cli' },
  { key: 'github_copilot', label: 'GitHub Copilot', starts: ['githubcopilot/'] },
  { key: 'pi', label: 'Pi', starts: ['pi/'] },
  { key: 'cursor', label: 'Cursor', starts: ['cursor/'] },
  { key: 'aider', label: 'Aider', starts: ['aider/'] },
]

const unknown: AgentHarness = { key: 'unknown', label: 'Unknown' }

/** The coding agent that a User-Agent claims to be; nobody has checked that claim. */
export function agentHarness(userAgent: string | undefined): AgentHarness {
  if (userAgent === undefined) return unknown
  const text = userAgent.toLowerCase()
  for (const harness of harnesses) {
    if (harness.starts?.some((start) => text.startsWith(start))) return harness
    if (harness.contains !== undefined && text.includes(harness.contains)) return harness
  }
  return unknown
}
