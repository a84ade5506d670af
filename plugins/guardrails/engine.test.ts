import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { GuardedContent, GuardedOperation, GuardPhase } from 'model-gateway/guardrail'
import { wordCheck } from './__fixtures__/word-check.ts'
import type { GuardrailPack } from './contract.ts'
import { type EnginePolicy, judge } from './engine.ts'
import { createTurns, type RunningCheck } from './managed.ts'

const guarded: readonly GuardPhase[] = ['generated_tool_call', 'mcp_call', 'harness_pre_tool']

/** Denies text that contains its word, and throws at `BREAK`. */
function wordPack(id: string, word: string): GuardrailPack {
  const rule = {
    id: 'word',
    reasonCode: `${id}.word`,
    description: 'Holds the word.',
    saferAction: 'Leave it out.',
  }
  const pack: GuardrailPack = {
    id,
    version: '1.0.0',
    summary: '',
    phases: guarded,
    rules: [rule],
    evaluate(input) {
      const text = JSON.stringify(input)
      if (text.includes('BREAK')) throw new SyntaxError(`cannot read ${text}`)
      if (!text.includes(word)) return undefined
      const { id: ruleId, ...told } = rule
      return { packId: id, ruleId, matchedField: 'tool', ...told }
    },
    explain: () => ({ reading: null, match: undefined }),
  }
  return pack
}

function wordCheckNamed(name: string, changes: Partial<RunningCheck> = {}): RunningCheck {
  return {
    name,
    kind: 'word_list',
    phases: ['prompt', 'model_response', 'generated_tool_call', 'harness_pre_tool'],
    timeoutMs: 40,
    disposition: 'fail_open',
    maxContentBytes: 1_000,
    check: wordCheck('DENIED'),
    turns: createTurns(4),
    ...changes,
  }
}

const text = (...segments: string[]): GuardedContent => ({ kind: 'text', segments })
const calls = (...args: string[]): GuardedContent => ({
  kind: 'tool_calls',
  calls: args.map((each) => ({ tool: 'f', arguments: each })),
})

const faults: string[] = []

async function run(
  policy: Partial<EnginePolicy>,
  content: GuardedContent,
  phase: GuardPhase = content.kind === 'text' ? 'prompt' : 'generated_tool_call',
) {
  faults.length = 0
  const operation: GuardedOperation = { phase, content, requestId: 'r' }
  const {
    decisions,
    denial,
    content: after,
  } = await judge({ scope: 'global', mode: 'deny', packs: [], checks: [], ...policy }, operation, {
    now: () => 1_000,
    fault: (evaluator, error) => faults.push(`${evaluator}: ${error.message}`),
  })
  expect(denial).toBe(decisions.find(({ action }) => action === 'deny'))
  return {
    ran: decisions.map(
      ({ evaluator, action, reasonCode }) => `${evaluator} ${action} ${reasonCode}`,
    ),
    denied: denial?.reasonCode,
    after,
    decisions,
  }
}

const a = wordPack('pack.a', 'ALPHA')
const b = wordPack('pack.b', 'BETA')
const check = wordCheckNamed('words')
const other = wordCheckNamed('others')

interface Case {
  readonly title: string
  readonly policy: Partial<EnginePolicy>
  readonly content: GuardedContent
  readonly ran: readonly string[]
  readonly denied?: string
  readonly after?: GuardedContent
}

const cases: readonly Case[] = [
  {
    title: 'packs in the order of the policy, then checks in theirs',
    policy: { packs: [b, a], checks: [other, check] },
    content: calls('{}'),
    ran: [
      'pack.b allow deterministic.allow',
      'pack.a allow deterministic.allow',
      'others allow managed.allow',
      'words allow managed.allow',
    ],
  },
  {
    title: 'the first pack that matches denies, and nothing else is asked',
    policy: { packs: [a, b], checks: [check] },
    content: calls('{"x":"ALPHA BETA"}'),
    ran: ['pack.a deny pack.a.word'],
    denied: 'pack.a.word',
  },
  {
    title: 'in audit mode all are asked, and it goes on',
    policy: { mode: 'audit', packs: [a, b], checks: [check] },
    content: calls('{"x":"ALPHA BETA DENIED"}'),
    ran: ['pack.a audit pack.a.word', 'pack.b audit pack.b.word', 'words audit word.denied'],
  },
  {
    title: 'call by call',
    policy: { packs: [a, b] },
    content: calls('{"x":1}', '{"x":"BETA"}', '{"x":"ALPHA"}'),
    ran: [
      'pack.a allow deterministic.allow',
      'pack.b allow deterministic.allow',
      'pack.a allow deterministic.allow',
      'pack.b deny pack.b.word',
    ],
    denied: 'pack.b.word',
  },
  {
    title: 'a command',
    policy: { packs: [a] },
    content: { kind: 'command', command: 'run ALPHA' },
    ran: ['pack.a deny pack.a.word'],
    denied: 'pack.a.word',
  },
  {
    title: 'an argument vector',
    policy: { packs: [a] },
    content: { kind: 'command', command: ['run', 'ALPHA'] },
    ran: ['pack.a deny pack.a.word'],
    denied: 'pack.a.word',
  },
  ...['', '{', '[]', '"x"', 'null', '{"a":1} x', '{"x":"ALPHA","x":"fine"}'].map(
    (args): Case =>
      args === ''
        ? {
            title: 'no arguments at all are an empty object',
            policy: { packs: [a] },
            content: calls(args),
            ran: ['pack.a allow deterministic.allow'],
          }
        : {
            title: `malformed arguments: ${args}`,
            policy: { packs: [a], checks: [check] },
            content: calls(args),
            ran: ['tool_call deny tool_call.malformed_arguments'],
            denied: 'tool_call.malformed_arguments',
          },
  ),
  {
    title: 'malformed arguments in audit mode are recorded, and the other calls judged',
    policy: { mode: 'audit', packs: [a] },
    content: calls('{', '{"x":"ALPHA"}'),
    ran: ['tool_call audit tool_call.malformed_arguments', 'pack.a audit pack.a.word'],
  },
  {
    title: 'a pack that throws denies',
    policy: { packs: [a, b] },
    content: calls('{"x":"BREAK"}'),
    ran: ['pack.a deny command.uninspectable'],
    denied: 'command.uninspectable',
  },
  {
    title: 'a pack that throws is recorded in audit mode',
    policy: { mode: 'audit', packs: [a] },
    content: calls('{"x":"BREAK"}'),
    ran: ['pack.a audit command.uninspectable'],
  },
  {
    title: 'packs do not judge text',
    policy: { packs: [a], checks: [check] },
    content: text('ALPHA'),
    ran: ['words allow managed.allow'],
  },
  {
    title: 'a check denies',
    policy: { checks: [check, other] },
    content: text('fine', 'DENIED'),
    ran: ['words deny word.denied'],
    denied: 'word.denied',
  },
  {
    title: 'what a check transformed feeds the next one and the operation',
    policy: {
      checks: [
        wordCheckNamed('first', { check: wordCheck('-', 'DENIED') }),
        wordCheckNamed('second', { check: wordCheck('DENIED') }),
      ],
    },
    content: text('one', 'a SECRET'),
    ran: ['first transformed managed.transformed', 'second deny word.denied'],
    denied: 'word.denied',
  },
  {
    title: 'only the segments that it changed',
    policy: { checks: [check] },
    content: text('one', 'a SECRET', ' '),
    ran: ['words transformed managed.transformed'],
    after: text('one', 'a [masked]', ' '),
  },
  {
    title: 'transformations hold in audit mode too',
    policy: { mode: 'audit', checks: [check] },
    content: text('a SECRET'),
    ran: ['words transformed managed.transformed'],
    after: text('a [masked]'),
  },
  {
    title: 'arguments of a tool keep their shape',
    policy: { checks: [check] },
    content: calls('{"to":"SECRET","n":[1,{"x":null}]}', '{}'),
    ran: ['words transformed managed.transformed'],
    after: calls('{"to":"[masked]","n":[1,{"x":null}]}', '{}'),
  },
  {
    title: 'transformed arguments of another shape, fail open',
    policy: { checks: [check, other] },
    content: calls('{"x":"UNSHAPED"}'),
    ran: [
      'words audit managed.invalid_transformation',
      'others audit managed.invalid_transformation',
    ],
  },
  {
    title: 'transformed arguments of another shape, fail closed',
    policy: { checks: [wordCheckNamed('words', { disposition: 'fail_closed' })] },
    content: calls('{"SECRET":"a name is part of the shape"}'),
    ran: ['words deny managed.invalid_transformation'],
    denied: 'managed.invalid_transformation',
  },
  {
    title: 'a check that does not list the phase is not asked',
    policy: { checks: [wordCheckNamed('words', { phases: ['model_response'] })] },
    content: text('DENIED'),
    ran: [],
  },
]

test.each(cases)('$title', async ({ policy, content, ran, denied, after }) => {
  const result = await run(policy, content)
  expect(result.ran).toEqual([...ran])
  expect(result.denied).toBe(denied)
  expect(result.after).toEqual(after)
})

const failures: readonly (readonly [said: string, reason: string])[] = [
  ['HANG', 'managed.timeout'],
  ['DEAF', 'managed.timeout'],
  ['x'.repeat(1_001), 'managed.content_too_large'],
  // Three bytes each: fewer characters than bytes.
  ['€'.repeat(334), 'managed.content_too_large'],
  ['THROW', 'managed.unavailable'],
  ['FAIL:managed.unavailable', 'managed.unavailable'],
  ['FAIL:managed.rate_limited', 'managed.rate_limited'],
  ['FAIL:managed.access_denied', 'managed.access_denied'],
  ['FAIL:managed.malformed_response', 'managed.malformed_response'],
  ['GARBAGE', 'managed.malformed_response'],
  ['FAIL:managed.invalid_transformation', 'managed.invalid_transformation'],
]
const dispositions = ['fail_open', 'fail_closed'] as const
const modes = ['audit', 'deny'] as const

test.each(
  failures.flatMap(([said, reason]) =>
    dispositions.flatMap((disposition) =>
      modes.map((mode) => [said.slice(0, 40), reason, disposition, mode, said] as const),
    ),
  ),
)('%s: %s, %s, %s', async (_, reason, disposition, mode, said) => {
  const failing = wordCheckNamed('words', { disposition })
  const { ran, denied, after, decisions } = await run(
    { mode, checks: [failing, other] },
    text('fine', said),
  )
  const closed = disposition === 'fail_closed' && mode === 'deny'
  expect(ran[0]).toBe(`words ${closed ? 'deny' : 'audit'} ${reason}`)
  expect(ran).toHaveLength(closed ? 1 : 2)
  expect(denied).toBe(closed ? reason : undefined)
  expect(after).toBeUndefined()
  expect(decisions[0]).toMatchObject({
    failureDisposition: disposition,
    transformation: reason === 'managed.invalid_transformation' ? 'rejected' : 'none',
    managedService: 'word_list',
  })
})

test('a decision says what judged what, and quotes nothing', async () => {
  const { decisions } = await run(
    { scope: 'mcp_server:notes', packs: [a], checks: [check] },
    calls('{"x":"é"}'),
  )
  expect(decisions).toHaveLength(2)
  const sha = createHash('sha256').update('{"x":"é"}').digest('hex')
  for (const decision of decisions) {
    expect(decision).toMatchObject({
      occurredAt: 1_000,
      requestId: 'r',
      phase: 'generated_tool_call',
      scope: 'mcp_server:notes',
      mode: 'deny',
      contentSha256: sha,
    })
    expect(decision.latencyMs).toBeGreaterThanOrEqual(0)
    expect(decision.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  }
  expect(decisions[0]).toMatchObject({ packId: 'pack.a', managedService: undefined })
})

test('each call of several is named by its own hash, and a pack is asked where it belongs', async () => {
  const elsewhere: GuardrailPack = { ...b, phases: ['mcp_call'] }
  const args = ['{"x":1}', '{"x":2}']
  const { decisions } = await run({ packs: [a, elsewhere] }, calls(...args))
  expect(decisions.map(({ packId, contentSha256 }) => [packId, contentSha256])).toEqual(
    args.map((each) => ['pack.a', createHash('sha256').update(each).digest('hex')]),
  )
})

test('errors of a pack or a check are reported without the judged content', async () => {
  await run({ mode: 'audit', packs: [a] }, calls('{"x":"BREAK canary"}'))
  expect(faults).toEqual(['pack.a: the pack threw SyntaxError'])
  await run({ checks: [check] }, text('THROW canary'))
  expect(faults).toEqual(['words: the check threw Error'])
})

test('an operation without evaluators takes almost no time', async () => {
  const policy = { packs: [a, b], checks: [wordCheckNamed('words', { phases: ['mcp_result'] })] }
  const content = text('x'.repeat(100_000))
  const times: number[] = []
  for (let i = 0; i < 2_000; i += 1) {
    const start = performance.now()
    await judge(
      { scope: 'global', mode: 'deny', ...policy },
      { phase: 'prompt', content, requestId: 'r' },
      { now: Date.now, fault() {} },
    )
    times.push(performance.now() - start)
  }
  times.sort((x, y) => x - y)
  expect(times[1_000]).toBeLessThan(0.005)
})

test.each([
  ['a promise that rejects', () => Promise.reject(new Error('secret'))],
  ['an object that is not a match', () => ({ nothing: true })],
  ['null', () => null],
])('a pack that answers %s has given no verdict, and takes nothing with it', async (_, answer) => {
  const pack = { ...a, evaluate: answer as unknown as GuardrailPack['evaluate'] }
  const { ran } = await run({ packs: [pack] }, calls('{"x":1}'))
  expect(ran).toEqual(['pack.a deny command.uninspectable'])
  expect(faults.join()).not.toContain('secret')
})
