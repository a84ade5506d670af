import { expect, test } from 'bun:test'
import { createClassifier, keyOf } from './agent-harness.ts'

const agentHarness = createClassifier([])

test.each([
  ['opencode/0.4', 'opencode'],
  ['node agent/OpenCode', 'opencode'],
  ['claude-cli/2.0 (external)', 'claude_code'],
  ['Claude-Code/2.0', 'claude_code'],
  ['x agent/claude-code y', 'claude_code'],
  ['codex_cli_rs/0.1', 'codex'],
  ['codex/0.1', 'codex'],
  ['codex_exec/0.171.0 (Debian 12.0.0; x86_64) dumb (codex_exec; 0.171.0)', 'codex'],
  ['codex-tui/0.171.0 (Debian 12.0.0; x86_64) xterm-256color', 'codex'],
  ['codex_vscode/0.146.0', 'codex'],
  ['Codex Desktop/26.9', 'codex'],
  ['QwenCode/0.24.4 (linux; x64)', 'qwen_code'],
  ['GeminiCLI/0.2', 'gemini_cli'],
  ['CloudCodeVSCode/2', 'gemini_cli'],
  ['x agent/gemini-cli', 'gemini_cli'],
  ['x agent/copilot-cli', 'copilot_cli'],
  ['GitHubCopilot/1.2', 'github_copilot'],
  ['GitHubCopilotChat/0.35.0', 'github_copilot'],
  ['Cline/3.74.0', 'cline'],
  ['RooCode/3.54.0', 'roo_code'],
  ['Kilo-Code/7.8.3 ai-sdk/provider-utils/3.0.0', 'kilo_code'],
  ['Visual Studio Code/1.108.0 (Continue/1.3.38)', 'continue'],
  ['Charm-Crush/v0.97.1 (https://charm.land/crush)', 'crush'],
  ['goose/1.5.2', 'goose'],
  ['Zed/0.210.0 (macos; aarch64)', 'zed'],
  ['pi/1', 'pi'],
  ['cursor/1', 'cursor'],
  ['aider/0.9', 'aider'],
  ['api/1 pi/1', 'unknown'],
  ['OpenAI/JS 7.55.0', 'unknown'],
  ['', 'unknown'],
  // Both match, and the first rule counts.
  ['cursor/1 agent/opencode', 'opencode'],
])('the User-Agent %p is %s', (userAgent, key) => {
  expect(agentHarness(userAgent).key).toBe(key)
})

test('configured rules apply first, case-insensitively, and can extend a built-in one', () => {
  const classify = createClassifier([
    { key: 'house_bot', label: 'House bot', starts: ['HouseBot/'], contains: ['(House'] },
    { key: 'aider', label: 'Aider', starts: ['OpenAI/Python'] },
    { key: 'mine', label: 'Mine', starts: ['codex_exec/'] },
  ])
  expect(
    ['housebot/2', 'x (house)', 'OpenAI/Python 2.20.0', 'codex_exec/1', 'codex-tui/1', 'x'].map(
      (userAgent) => classify(userAgent).key,
    ),
  ).toEqual(['house_bot', 'house_bot', 'aider', 'mine', 'codex', 'unknown'])
})

test.each([
  ['House bot', 'house_bot'],
  ['  --Ünicode 2.0!  ', 'nicode_2_0'],
  // Its requests are counted with those of the known agent.
  ['AIDER', 'aider'],
  ['Unknown', undefined],
  ['模型', undefined],
])('the key for %p is %p', (label, key) => {
  expect(keyOf(label)).toBe(key as string)
})

test('a missing User-Agent is unknown', () => {
  expect(agentHarness(undefined)).toEqual({ key: 'unknown', label: 'Unknown' })
})
