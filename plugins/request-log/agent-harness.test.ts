import { expect, test } from 'bun:test'
import { agentHarness } from './agent-harness.ts'

test.each([
  ['opencode/0.4', 'opencode'],
  ['node agent/OpenCode', 'opencode'],
  ['claude-cli/2.0 (external)', 'claude_code'],
  ['Claude-Code/2.0', 'claude_code'],
  ['x agent/claude-code y', 'claude_code'],
  ['codex_cli_rs/0.1', 'codex'],
  ['codex/0.1', 'codex'],
  ['GeminiCLI/0.2', 'gemini_cli'],
  ['CloudCodeVSCode/2', 'gemini_cli'],
  ['x agent/gemini-cli', 'gemini_cli'],
  ['x agent/copilot-cli', 'copilot_cli'],
  ['GitHubCopilot/1.2', 'github_copilot'],
  ['pi/1', 'pi'],
  ['cursor/1', 'cursor'],
  ['aider/0.9', 'aider'],
  ['api/1 pi/1', 'unknown'],
  ['OpenAI/JS 7.55.0', 'unknown'],
  ['', 'unknown'],
  // Both would match: the first of the table counts.
  ['cursor/1 agent/opencode', 'opencode'],
])('the User-Agent %p is %s', (userAgent, key) => {
  expect(agentHarness(userAgent).key).toBe(key)
})

test('no User-Agent is unknown', () => {
  expect(agentHarness(undefined)).toEqual({ key: 'unknown', label: 'Unknown' })
})
