import { describe, expect, test } from 'bun:test'
import { hookCases } from './__fixtures__/hooks.ts'
import { hookAnswer, hookFormats, readHook } from './hooks.ts'

test('every format is shown', () => {
  expect(hookCases.map(({ format }) => format)).toEqual([...hookFormats])
})

describe.each(hookCases.map((each) => [each.format, each] as const))('%s', (format, agent) => {
  test('a shell command is a call of the agent’s tool', () => {
    const call = readHook(format, agent.shell('ls -la'))
    expect(call?.server).toBeUndefined()
    const [only] = call?.content.kind === 'tool_calls' ? call.content.calls : []
    expect(['Bash', 'run_shell_command', 'bash']).toContain(only?.tool ?? '')
    expect(JSON.parse(only?.arguments ?? '')).toMatchObject({ command: 'ls -la' })
  })

  test('a tool of an MCP server comes with the server', () => {
    expect(readHook(format, agent.mcp('my_notes', 'pages__archive', { id: 1 }))).toEqual({
      server: { key: 'my_notes', aliases: [] },
      content: { kind: 'tool_calls', calls: [{ tool: 'pages__archive', arguments: '{"id":1}' }] },
    })
  })

  test('denials carry their reason, allowances say what the agent expects', () => {
    expect(agent.reasonOf(JSON.parse(hookAnswer(format, 'because')))).toBe('because')
    expect(hookAnswer(format, undefined)).toBe(agent.allowed)
  })

  test('other JSON is not a hook', () => {
    for (const hook of [null, 1, 'x', [], {}, { tool_name: 7 }, { tool_name: '', toolName: '' }]) {
      expect(readHook(format, hook)).toBeUndefined()
    }
  })
})

test('arguments that are not an object are passed to the policy, which rejects them', () => {
  const read = (format: 'codex' | 'copilot_cli', hook: object) => {
    const content = readHook(format, hook)?.content
    return content?.kind === 'tool_calls' ? content.calls[0]?.arguments : undefined
  }
  expect(read('codex', { tool_name: 'Bash', tool_input: 'rm -rf /' })).toBe('"rm -rf /"')
  expect(read('copilot_cli', { toolName: 'bash', toolArgs: '{broken' })).toBe('{broken')
  expect(read('copilot_cli', { toolName: 'bash', toolArgs: { command: 'ls' } })).toBe(
    '{"command":"ls"}',
  )
  expect(read('codex', { tool_name: 'Bash' })).toBe('{}')
  expect(read('codex', { tool_name: 'Bash', tool_input: null })).toBe('null')
  expect(read('copilot_cli', { toolName: 'bash', toolArgs: null })).toBe('null')
})

test.each([
  // By a server that is known, however it is spelled.
  ['notion-API-delete-a-block', 'notion', 'API-delete-a-block'],
  ['my-notion-API-delete-a-block', 'my-notion', 'API-delete-a-block'],
  ['notion-get-me', 'notion', 'get-me'],
  // By the names alone.
  ['desktop-commander-execute_command', 'desktop-commander', 'execute_command'],
  ['aws-api-call_aws', 'aws-api', 'call_aws'],
  ['postgres-query', 'postgres', 'query'],
  ['other-API-delete-a-block', 'other-API-delete-a', 'API-delete-a-block'],
  // As other agents write it.
  ['mcp__notes__delete-page', 'notes', 'delete-page'],
])('Copilot’s %s is of the server %s', (toolName, server, tool) => {
  const known = (key: string) => key === 'notion' || key === 'my-notion'
  expect(readHook('copilot_cli', { toolName, toolArgs: '{}' }, known)).toMatchObject({
    server: { key: server },
    content: { calls: [{ tool }] },
  })
  const others = readHook('codex', { tool_name: 'a-b_c', tool_input: {} }, known)
  expect(others?.server).toBeUndefined()
})

test('an agent knows best which server a tool belongs to', () => {
  const hook = { tool_name: 'mcp__my__notes__archive', mcp_context: { server_name: 'my__notes' } }
  expect(readHook('codex', hook)?.server?.key).toBe('my__notes')
})

test('a long name with many hyphens is only tried where a key may end', () => {
  let tried = 0
  readHook('copilot_cli', { toolName: 'a-'.repeat(30_000), toolArgs: '{}' }, () => {
    tried++
    return false
  })
  expect(tried).toBeLessThan(64)
})
