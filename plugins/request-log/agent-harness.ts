export interface AgentHarness {
  readonly key: string
  readonly label: string
}

/** An agent, with prefixes and substrings of its User-Agents. */
export interface HarnessRule extends AgentHarness {
  readonly starts?: readonly string[]
  readonly contains?: readonly string[]
}

/** In lower case. Programs that send the name of an SDK have no entry. */
const known: readonly HarnessRule[] = [
  {
    key: 'opencode',
    label: 'OpenCode',
    starts: ['opencode/', 'opencode2/'],
    contains: ['agent/opencode'],
  },
  {
    key: 'claude_code',
    label: 'Claude Code',
    starts: ['claude-cli/', 'claude-code/'],
    contains: ['agent/claude-code'],
  },
  // codex_exec, codex-tui, codex_cli_rs, codex_vscode, codex_sdk_ts, "Codex Desktop", …
  { key: 'codex', label: 'Codex', starts: ['codex/', 'codex_', 'codex-', 'codex '] },
  { key: 'qwen_code', label: 'Qwen Code', starts: ['qwencode/', 'qwen-code/'] },
  {
    key: 'gemini_cli',
    label: 'Gemini CLI',
    starts: ['geminicli', 'cloudcodevscode/'],
    contains: ['agent/gemini-cli'],
  },
  { key: 'copilot_cli', label: 'Copilot CLI', contains: ['agent/copilot-cli'] },
  {
    key: 'github_copilot',
    label: 'GitHub Copilot',
    starts: ['githubcopilot/', 'githubcopilotchat/'],
  },
  { key: 'cline', label: 'Cline', starts: ['cline/'] },
  { key: 'roo_code', label: 'Roo Code', starts: ['roocode/', 'roo-code/'] },
  { key: 'kilo_code', label: 'Kilo Code', starts: ['kilo-code/', 'kilo/'] },
  { key: 'continue', label: 'Continue', starts: ['continue/'], contains: ['(continue/'] },
  { key: 'crush', label: 'Crush', starts: ['charm-crush/', 'crush/'] },
  { key: 'goose', label: 'goose', starts: ['goose/'] },
  { key: 'zed', label: 'Zed', starts: ['zed/'] },
  { key: 'amp', label: 'Amp', starts: ['amp/'] },
  { key: 'droid', label: 'Droid', starts: ['factory-cli/'] },
  { key: 'kimi_code', label: 'Kimi Code', starts: ['kimi-code', 'kimicli/'] },
  { key: 'mistral_vibe', label: 'Mistral Vibe', starts: ['mistral-vibe/'] },
  { key: 'pi', label: 'Pi', starts: ['pi/', 'pi ('] },
  { key: 'cursor', label: 'Cursor', starts: ['cursor/'], contains: [' cursor/'] },
  { key: 'aider', label: 'Aider', starts: ['aider/'] },
]

const unknown: AgentHarness = { key: 'unknown', label: 'Unknown' }

/**
 * The key for a name: the key of the built-in agent with this name, else its letters and digits;
 * undefined if it has none.
 *
 * @example keyOf('House bot') // 'house_bot'
 */
export function keyOf(label: string): string | undefined {
  const text = label.toLowerCase()
  const same = known.find((rule) => rule.label.toLowerCase() === text)
  if (same !== undefined) return same.key
  const key = text.replaceAll(/[^a-z0-9]+/g, '_').replaceAll(/^_|_$/g, '')
  return key === '' || key === unknown.key ? undefined : key
}

/**
 * Identifies the coding agent by its User-Agent, which callers can set freely. The first match
 * wins: first in `own`, then in the built-in entries.
 *
 * @example createClassifier([{ key: 'my_agent', label: 'My agent', starts: ['my-agent/'] }])
 */
export function createClassifier(own: readonly HarnessRule[]) {
  const lower = (texts: readonly string[] = []) => texts.map((text) => text.toLowerCase())
  const rules = [...own, ...known].map(({ key, label, starts, contains }) => ({
    harness: { key, label },
    starts: lower(starts),
    contains: lower(contains),
  }))
  return (userAgent: string | undefined): AgentHarness => {
    if (userAgent === undefined) return unknown
    const text = userAgent.toLowerCase()
    const rule = rules.find(
      ({ starts, contains }) =>
        starts.some((start) => text.startsWith(start)) ||
        contains.some((part) => text.includes(part)),
    )
    return rule?.harness ?? unknown
  }
}
