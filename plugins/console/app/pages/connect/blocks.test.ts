import { expect, test } from 'bun:test'
import { allClients } from './blocks.ts'

const settings = { url: 'http://gw.example', key: 'gwk_x', model: 'a/b' }

test('each client of the page has a block of settings, ready to paste', () => {
  const blocks = Object.fromEntries(allClients.map(({ label, block }) => [label, block(settings)]))
  expect(Object.keys(blocks)).toEqual([
    'curl',
    'openai for Node',
    'anthropic for Node',
    'Claude Code',
    'Codex',
    'opencode',
    'Gemini CLI',
    'Qwen Code',
    'aider',
  ])
  for (const block of Object.values(blocks)) {
    expect(block).toContain('gwk_x')
    expect(block).toContain('a/b')
    // The agents' prompts in docs/clients.md are for tests and are cut off.
    expect(block).not.toContain('first.txt')
  }
  expect(blocks['openai for Node']).toContain("baseURL: 'http://gw.example/v1'")
  expect(blocks.Codex).toEndWith('EOF\ncodex --model "$GATEWAY_MODEL"\n')
  expect(blocks['Claude Code']).toStartWith("export GATEWAY_URL='http://gw.example'\n")
})
