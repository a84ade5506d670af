import { describe, expect, test } from 'bun:test'
import { type Agent, agents } from './hook-agents.ts'
import { hookCommand, missingProgram, wordsOf } from './hook-command.ts'
import { findHooks, isSwitchedOff, withHook, withoutHook } from './hook-file.ts'

const named = (name: string) => agents.find((agent) => agent.name === name) as Agent
const claude = named('claude-code')
const gemini = named('gemini-cli')
const command = hookCommand(['/opt/gateway'], claude, [])

describe.each(agents.map((agent) => [agent.name, agent] as const))('%s', (_, agent) => {
  const own = hookCommand(['/opt/my gate/way', '--x'], agent, ['--proxy', "http://o'brien"])
  const [event, kind] = agent.list
  const others = (...inner: string[]) => `{
    "model": "opus",
    "${event}": {
        "Stop": [],
        "${kind}": [${inner.join()}]
    },
    "z": {"deep": [1,2]}
}
`
  const mine = `
            {"matcher": "Bash", "hooks": [{"type":"command","command":"./mine.sh"}]}
        `

  test('a file gets the hook once, whatever was in it, and is the same without it again', () => {
    for (const before of [
      '{"a":1}\n',
      `{ "${event}": {"Stop": []}, "b": 2 }`,
      others(mine),
      others(mine).replaceAll('\n', '\r\n'),
      others(mine).replaceAll('    ', '\t'),
      `{\n  "${event}": {\n    "Stop": []\n  }\n}\n`,
    ]) {
      const after = withHook(before, agent, own)
      expect(withHook(after, agent, own)).toBe(after)
      expect(findHooks(after, agent).map((hook) => hook.command)).toEqual([own])
      expect(withoutHook(after, agent)).toBe(before)
      expect(JSON.parse(after)).toMatchObject({
        ...JSON.parse(before),
        [event]: expect.any(Object),
      })
      expect(Object.keys(JSON.parse(after)).slice(0, 1)).toEqual(
        Object.keys(JSON.parse(before)).slice(0, 1),
      )
    }
  })

  test('a file that there was not has nothing else, and goes with the hook', () => {
    const made = withHook('', agent, own)
    const hook = { ...agent.hook, [agent.command]: own }
    const entry = agent.group === undefined ? hook : { ...agent.group, hooks: [hook] }
    expect(JSON.parse(made)).toEqual({ ...agent.head, [event]: { [kind]: [entry] } })
    expect(withoutHook(made, agent)).toBeUndefined()
    expect(withHook(' \n', agent, own)).toBe(made)
  })

  test('another command of ours is replaced, a second one goes, the rest of a hook stays', () => {
    const old = { type: 'command', name: 'guard', [agent.command]: own.replace('/opt', '/old') }
    const entry = agent.group === undefined ? old : { matcher: 'Bash', hooks: [old] }
    const after = withHook(others(mine, JSON.stringify(entry), JSON.stringify(entry)), agent, own)
    const list = JSON.parse(after)[event][kind]
    expect(list).toHaveLength(2)
    const [hook] = agent.group === undefined ? [list[1]] : list[1].hooks
    expect(hook).toEqual({ ...agent.hook, ...old, [agent.command]: own })
    if (agent.group !== undefined) expect(list[1].matcher).toBe('Bash')
  })

  test('the words of its command are those that were given', () => {
    expect(wordsOf(own)).toEqual([
      ...['/opt/my gate/way', '--x', 'guard', '--format', agent.format],
      ...['--proxy', "http://o'brien"],
    ])
  })
})

test('a file that the agent cannot read is not changed', () => {
  const commented = '{\n  // mine\n  "a": 1,\n}\n'
  expect(withHook(commented, gemini, command)).toContain('// mine')
  for (const agent of agents.filter(({ comments }) => !comments)) {
    expect(() => withHook(commented, agent, command)).toThrow(
      'not valid JSON: InvalidCommentToken in line 2',
    )
  }
  expect(() => withHook('{"hooks": []}', claude, command)).toThrow('"hooks" must be an object')
  expect(() => withHook('{"hooks": {"PreToolUse": {}}}', claude, command)).toThrow('must be a list')
  expect(() => withHook('[]', claude, command)).toThrow('must be a JSON object')
})

test('a hook of another agent, and one that only looks like ours, is not ours', () => {
  const hook = (text: string) =>
    JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: text }] }] } })
  expect(findHooks(hook('gateway guard --format codex'), claude)).toEqual([])
  expect(findHooks(hook('guard-me --format claude_code'), claude)).toEqual([])
  expect(findHooks(hook('gateway guard --mode audit --format=claude_code'), claude)).toHaveLength(1)
})

test('settings that switch hooks off are seen', () => {
  expect(isSwitchedOff('{"disableAllHooks": true}', claude)).toBe(true)
  expect(isSwitchedOff('{"hooksConfig": {"enabled": false}}', gemini)).toBe(true)
  for (const agent of agents) expect(isSwitchedOff('{}', agent)).toBe(false)
})

test('each file of the program must exist', () => {
  const there = process.execPath
  expect(missingProgram([there, '--config=/dev/null', import.meta.path, 'guard'])).toBeUndefined()
  expect(missingProgram([there, '/no/main.ts', 'guard'])).toBe('/no/main.ts')
  expect(missingProgram(['/no/gateway', 'guard'])).toBe('/no/gateway')
  expect(missingProgram([import.meta.path, 'guard'])).toBe(import.meta.path)
  expect(missingProgram(['no-such-gateway', 'guard'])).toBe('no-such-gateway')
})
