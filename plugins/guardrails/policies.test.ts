import { beforeEach, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import type { GuardPhase, GuardPolicy, PackMatch } from 'model-gateway/guardrail'
import type { ConfigSnapshot } from 'model-gateway/host'
import { ConfigError } from 'model-gateway/plugin'
import { open, wordCheck } from './__fixtures__/word-check.ts'
import { guardrails } from './config.ts'
import type { GuardrailPack, ManagedCheck, ManagedCheckKind } from './contract.ts'
import type { Decision } from './decision.ts'
import { compilePolicies, mergePolicy } from './policies.ts'

const pack: GuardrailPack = {
  id: 'core.test',
  aliases: ['core.t'],
  version: '1.0.0',
  summary: '',
  phases: ['harness_pre_tool'],
  rules: [],
  evaluate: () => undefined,
  explain: () => ({ reading: null, match: undefined }),
}
const words: ManagedCheckKind = {
  kind: 'word_list',
  create: ({ denied_word }) => {
    if (denied_word === 'FAIL') throw new Error('no such service')
    if (denied_word === 'NOTHING') return {} as ManagedCheck
    if (denied_word === 'HANG') return new Promise<never>(() => {})
    if (denied_word === 'LATE') return Bun.sleep(100).then(() => wordCheck(denied_word))
    return wordCheck(denied_word)
  },
}
const check = (denied_word = 'DENIED') => ({
  kind: 'words',
  phases: ['prompt'],
  timeout_ms: 5_000,
  word_list: { denied_word },
})

const recorded: Decision[] = []
beforeEach(() => {
  open.clear()
  recorded.length = 0
})

function compile(
  section: object,
  packs: readonly GuardrailPack[] = [pack],
  kinds: readonly ManagedCheckKind[] = [words],
) {
  const filled = Value.Default(guardrails.schema, structuredClone(section))
  const snapshot = {
    version: 'v1',
    models: new Map([['w/*', { routes: [{ model: 'w/*', provider: 'up', upstreamModel: '*' }] }]]),
    providers: new Map(),
    section: () => filled,
  } as unknown as ConfigSnapshot
  return compilePolicies(snapshot, {
    packs,
    kinds,
    makeDeadlineMs: 50,
    now: Date.now,
    fault() {},
    record: (decisions) => void recorded.push(...decisions),
  })
}

test('an override replaces what it says and nothing else', () => {
  const settings = {
    enabled: true,
    mode: 'deny' as const,
    on_deny: 'error' as const,
    packs: ['a'],
    managed_checks: ['b'],
    stream_buffer_bytes: 1,
    stream_buffer_timeout_ms: 2,
  }
  expect(mergePolicy(settings, {})).toEqual(settings)
  expect(mergePolicy(settings, { packs: [], mode: 'audit' })).toEqual({
    ...settings,
    packs: [],
    mode: 'audit',
  })
})

test('scopes: the names of routes are compared, never split', async () => {
  const policies = await compile({
    default: { enabled: true, packs: ['core.t'] },
    model_routes: { 'a/b/c/d': { mode: 'deny' }, off: { enabled: false } },
    mcp_servers: { notes: { mode: 'deny' } },
  })
  expect(policies.global?.scope).toBe('global')
  expect(policies.forRoute('a', 'b', 'c/d')?.scope).toBe('model_route:a/b/c/d')
  expect(policies.forRoute('a/b', 'c', 'd')?.scope).toBe('model_route:a/b/c/d')
  expect(policies.forRoute('a', 'b', 'c')?.scope).toBe('global')
  expect(policies.forServer('notes')?.scope).toBe('mcp_server:notes')
  expect(policies.forServer('unknown')?.scope).toBe('global')
  expect(policies.scopes.get('global')?.packs).toEqual([pack])
  expect(policies.global?.covers('harness_pre_tool')).toBe(true)
  expect(policies.global?.covers('prompt')).toBe(false)
})

test('the policy of a wildcard is for the routes that it makes, unless one has its own', async () => {
  const policies = await compile({
    default: { enabled: true, packs: ['core.t'] },
    model_routes: { 'w/*/up/*': { mode: 'deny' }, 'w/b/up/b': { enabled: false } },
  })
  const scopes = ['a', 'b', '*'].map((name) => policies.forRoute(`w/${name}`, 'up', name)?.scope)
  expect(scopes).toEqual(['model_route:w/*/up/*', undefined, 'model_route:w/*/up/*'])
  expect(policies.forRoute('w/a', 'other', 'a')?.scope).toBe('global')
})

test('a disabled default has no policy; a scope can still be enabled', async () => {
  const off = await compile({ default: { packs: ['core.test'] } })
  expect(off.global).toBeUndefined()
  expect(off.forRoute('a', 'b', 'c')).toBeUndefined()
  const some = await compile({
    default: { packs: ['core.test'] },
    mcp_servers: { notes: { enabled: true } },
  })
  expect(some.global).toBeUndefined()
  expect(some.forServer('notes')?.covers('harness_pre_tool')).toBe(true)
})

test('if a check cannot be created, the config is rejected and other checks are disposed', async () => {
  const section = { managed_checks: { a: check(), b: check('FAIL') } }
  await expect(compile(section)).rejects.toThrow('no such service')
  await expect(compile({ default: { packs: ['core.x'] } })).rejects.toBeInstanceOf(ConfigError)
  await Bun.sleep(1)
  expect(open.size).toBe(0)
})

test.each([
  ['FAIL', 'no such service'],
  ['NOTHING', 'its kind did not return a check'],
  ['HANG', 'did not finish within 50 ms'],
])('a check that is not made (%s) is named with its kind and why', async (word, why) => {
  const failed = compile({ managed_checks: { a: check(), b: check(word) } }).catch((error) => error)
  const message = `guardrails.managed_checks.b: creating the check (kind word_list) failed: ${why}`
  expect(await failed).toMatchObject({ name: 'ConfigError', message })
  expect(open.size).toBe(0)
})

test('a check is made by its own kind, whatever others are called', async () => {
  const odd: ManagedCheckKind = { kind: 'toString', create: () => wordCheck('OTHER') }
  const { checks } = await compile({ managed_checks: { a: check() } }, [pack], [odd, words])
  expect(checks.map(({ kind }) => kind)).toEqual(['word_list'])
})

test('a check that is made too late is disposed', async () => {
  await expect(compile({ managed_checks: { a: check('LATE') } })).rejects.toThrow('within 50 ms')
  await Bun.sleep(100)
  expect(open.size).toBe(0)
})

test('a check that hangs or throws in dispose blocks nothing, and is reported', async () => {
  const disposals = [
    () => new Promise<never>(() => {}),
    () => {
      throw new Error('no socket')
    },
  ]
  const told = ['was not disposed within 50 ms', 'no socket']
  for (const [at, dispose] of disposals.entries()) {
    const odd: ManagedCheckKind = {
      kind: 'word_list',
      create: ({ denied_word }) => {
        const made = words.create({ denied_word }) as ManagedCheck
        return denied_word === 'ODD' ? { ...made, dispose } : made
      },
    }
    const section = { managed_checks: { a: check('ODD'), b: check() } }
    const failing = { managed_checks: { ...section.managed_checks, c: check('FAIL') } }
    await expect(compile(failing, [pack], [odd])).rejects.toThrow('no such service')
    open.clear()
    const policies = await compile(section, [pack], [odd])
    await expect(policies.dispose()).rejects.toThrow(told[at])
    expect(open.size).toBe(1)
    open.clear()
  }
})

test.each([
  ['throws', () => Promise.reject(new Error('no grammar')), 'no grammar'],
  ['hangs', () => new Promise<never>(() => {}), 'did not finish within 50 ms'],
])(
  'a pack that %s where it prepares is named, and the checks are disposed',
  async (_, prepare, why) => {
    const section = { managed_checks: { a: check() }, default: { packs: ['core.t'] } }
    const failed = compile(section, [{ ...pack, prepare }]).catch((error) => error)
    const message = `guardrails: preparing the pack core.test failed: ${why}`
    expect(await failed).toMatchObject({ name: 'ConfigError', message })
    expect(open.size).toBe(0)
  },
)

test('a pack that no policy uses is not prepared', async () => {
  const broken = { ...pack, id: 'core.other', aliases: [], prepare: () => Promise.reject() }
  const section = { default: { enabled: true, packs: ['core.t'] } }
  expect((await compile(section, [pack, broken])).global?.scope).toBe('global')
})

test('the first of equally significant decisions is reported', async () => {
  const policies = await compile({
    default: { enabled: true, mode: 'audit', managed_checks: ['a', 'b', 'c'] },
    managed_checks: { a: check('NOWHERE'), b: check(), c: check() },
  })
  const verdict = await policies.global?.inspect({
    phase: 'prompt',
    content: { kind: 'text', segments: ['DENIED'] },
    requestId: 'r',
  })
  expect(recorded.map(({ action }) => action)).toEqual(['allow', 'audit', 'audit'])
  expect(verdict).toEqual({ action: 'allow', decisionId: recorded[1]?.id as string })
})

test('verdicts: what the kernel needs, with the decision that tells most', async () => {
  const policies = await compile({
    default: { enabled: true, mode: 'deny', managed_checks: ['a'] },
    managed_checks: { a: check() },
  })
  const inspect = (text: string) =>
    policies.global?.inspect({
      phase: 'prompt',
      content: { kind: 'text', segments: [text] },
      requestId: 'r',
    })
  expect(await inspect('fine')).toEqual({
    action: 'allow',
    decisionId: recorded[0]?.id as string,
  })
  expect(await inspect('SECRET')).toMatchObject({
    action: 'allow',
    content: { segments: ['[masked]'] },
  })
  const denied = await inspect('DENIED')
  expect(denied).toMatchObject({ action: 'deny', reasonCode: 'word.denied' })
  expect(denied?.action === 'deny' && denied.message).toBe(
    `denied by a (word.denied). Decision ${recorded[2]?.id}.`,
  )
  expect(recorded.map(({ action }) => action)).toEqual(['allow', 'transformed', 'deny'])
})

test('a refusal says what was denied, by which rule and what is safer, for model calls alone', async () => {
  const match: PackMatch = {
    packId: 'core.test',
    ruleId: 'no-x',
    matchedField: 'tool',
    reasonCode: 'x',
    description: 'X breaks things.',
    saferAction: 'Do y.',
  }
  const strict: GuardrailPack = {
    ...pack,
    phases: ['generated_tool_call', 'mcp_call'],
    evaluate: () => match,
  }
  const policies = await compile(
    {
      default: { enabled: true, mode: 'deny', on_deny: 'refusal', packs: ['core.t'] },
      model_routes: { 'm/p/u': { on_deny: 'error' } },
    },
    [strict],
  )
  const inspect = (policy: GuardPolicy | undefined, phase: GuardPhase) =>
    policy?.inspect({
      phase,
      content: { kind: 'tool_calls', calls: [{ tool: 'x', arguments: '{}' }] },
      requestId: 'r',
    })
  const { global } = policies
  const message = () =>
    `denied by core.test, rule no-x: X breaks things. Do y. Decision ${recorded.at(-1)?.id}.`
  expect(await inspect(global, 'generated_tool_call')).toMatchObject({
    message: message(),
    refusal: `A guardrail of the gateway withheld a tool call of the model; the tool was not called: ${message()} Repeating the same request will be denied again.`,
  })
  expect(await inspect(global, 'mcp_call')).not.toHaveProperty('refusal')
  const route = policies.forRoute('m', 'p', 'u')
  expect(await inspect(route, 'generated_tool_call')).not.toHaveProperty('refusal')
})

test('checks are disposed when nothing uses them any more, once', async () => {
  const policies = await compile({
    default: { enabled: true, managed_checks: ['a'] },
    managed_checks: { a: check() },
  })
  const running = policies.global?.inspect({
    phase: 'prompt',
    content: { kind: 'text', segments: ['SLOW'] },
    requestId: 'r',
  })
  const disposed = policies.dispose()
  await Bun.sleep(1)
  expect(open.size).toBe(1)
  expect(await running).toMatchObject({ action: 'allow' })
  await Promise.all([disposed, policies.dispose()])
  expect(open.size).toBe(0)
  open.add(policies.checks[0]?.check as never)
  await policies.dispose()
  expect(open.size).toBe(1)
})
