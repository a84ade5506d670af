import { describe, expect, test } from 'bun:test'
import { speaking } from '../../test/harness/surfaces.ts'
import type {
  GuardedContent,
  GuardedOperation,
  GuardPhase,
  GuardPolicy,
  JsonObject,
} from '../plugin/index.ts'
import type { Admitted, Refusal } from './exchange.ts'
import { guardPrompt, guardReply, guardsReply } from './guard.ts'

const denies: Pick<GuardPolicy, 'covers' | 'inspect'> = {
  covers: () => true,
  inspect: async () => ({
    action: 'deny',
    decisionId: 'd1',
    reasonCode: 'keyword',
    message: 'denied',
  }),
}

/** A call whose prompt is denied. */
const deniedCall = {
  requestId: 'r1',
  ...speaking('chat_completions'),
  lease: { runtime: { configVersion: 'v1' } },
  route: { guard: denies, bound: { pricing: {} }, spec: {} },
  call: { body: { messages: [{ role: 'user', content: 'raw words' }] } },
  executionModel: {},
  provider: {},
} as unknown as Admitted

test('a denied prompt is not logged', async () => {
  const refusal = (await guardPrompt(deniedCall).catch((thrown: unknown) => thrown)) as Refusal
  expect(refusal.error).toMatchObject({ code: 'guardrail_denied' })
  const logged = { guardrail_denied: true, decision_id: 'd1' }
  expect(refusal.exchange).toMatchObject({ requestId: 'r1', loggedBody: logged })
})

test('of a masked prompt nothing is sent or logged but the mask', async () => {
  const masks: Pick<GuardPolicy, 'covers' | 'inspect'> = {
    covers: (phase) => phase === 'prompt',
    inspect: async () => ({
      action: 'allow',
      decisionId: 'd1',
      content: { kind: 'text', segments: ['masked'] },
    }),
  }
  const body = { messages: [{ role: 'user', content: 'raw words' }] }
  const admitted = {
    ...speaking('chat_completions'),
    route: { guard: masks },
    call: { body, rawBody: JSON.stringify(body), headers: { a: 'b' } },
  } as unknown as Admitted
  const passed = await guardPrompt(admitted)
  const masked = { messages: [{ role: 'user', content: 'masked' }] }
  expect(passed.call).toEqual({ headers: { a: 'b' }, body: masked, rawBody: undefined } as never)
  expect(passed.loggedBody).toEqual(masked)
})

test('a prompt that no guard covers, or without a text, is not judged', async () => {
  for (const [phase, content] of [
    ['model_response', 'words'],
    ['prompt', ''],
  ] as const) {
    const { admitted, shown } = guarded(phase)
    const call = { body: { messages: [{ content }] }, rawBody: undefined }
    const prompt: Admitted = { ...admitted, call }
    expect(await guardPrompt(prompt)).toBe(prompt)
    expect(shown).toEqual([])
  }
})

/** A call of a route guarded in these phases, and what its guard sees. */
function guarded(...phases: GuardPhase[]) {
  const shown: [GuardPhase, GuardedContent][] = []
  const guard: Pick<GuardPolicy, 'covers' | 'inspect'> = {
    covers: (phase) => phases.includes(phase),
    async inspect({ phase, content }) {
      shown.push([phase, content])
      return { action: 'allow', decisionId: 'd1' }
    },
  }
  const admitted = { requestId: 'r1', ...speaking('chat_completions'), route: { guard } }
  return { admitted: admitted as unknown as Admitted, shown }
}

const call = { id: 'c', function: { name: 'f', arguments: '{}' } }
const reply = (message: JsonObject): JsonObject => ({ choices: [{ message }] })
const buffered = (body: JsonObject, rawBody = JSON.stringify(body)) =>
  ({ kind: 'buffered', body, rawBody }) as const

test.each<[GuardPhase[], boolean]>([
  [[], false],
  [['prompt'], false],
  [['model_response'], true],
  [['generated_tool_call'], true],
])('where %j is guarded, that a reply waits is %p', (phases, waits) => {
  expect(guardsReply(guarded(...phases).admitted)).toBe(waits)
})

test.each<[GuardPhase[]]>([
  [[]],
  [['model_response']],
  [['generated_tool_call']],
  [['generated_tool_call', 'model_response']],
])('of a reply nothing is judged but %j', async (phases) => {
  const { admitted, shown } = guarded(...phases)
  const body = reply({ content: 'said', tool_calls: [call] })
  expect(await guardReply(admitted, buffered(body))).toBe(body)
  expect(shown.map(([phase]) => phase)).toEqual(phases)
  expect(await guardReply(admitted, buffered(reply({ content: '' })))).toEqual(
    reply({ content: '' }),
  )
  expect(shown).toHaveLength(phases.length)
})

test('changed tool calls are kept if the guard also changes the text', async () => {
  const guard: Pick<GuardPolicy, 'covers' | 'inspect'> = {
    covers: () => true,
    inspect: async ({ content }) => ({
      action: 'allow',
      decisionId: 'd1',
      content:
        content.kind === 'text'
          ? { kind: 'text', segments: ['masked'] }
          : { kind: 'tool_calls', calls: [{ tool: 'f', arguments: '{"masked":true}' }] },
    }),
  }
  const admitted = { requestId: 'r1', ...speaking('chat_completions'), route: { guard } }
  const body = reply({ content: 'said', tool_calls: [call] })
  expect(await guardReply(admitted as unknown as Admitted, buffered(body))).toEqual(
    reply({
      content: 'masked',
      tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"masked":true}' } }],
    }),
  )
})

describe('a text with a duplicate key, which others may read differently,', () => {
  const twice = '{"messages":[{"role":"user","content":"HIDDEN","content":"y"}]}'

  test('is sent as it was judged', async () => {
    const { admitted, shown } = guarded('prompt')
    const body = JSON.parse(twice) as JsonObject
    const prompt: Admitted = { ...admitted, call: { body, rawBody: twice } }
    const passed = await guardPrompt(prompt)
    expect(shown).toEqual([['prompt', { kind: 'text', segments: ['y'] }]])
    expect(passed.call).toEqual({ body, rawBody: undefined })
    const once: Admitted = { ...prompt, call: { body, rawBody: JSON.stringify(body) } }
    expect(await guardPrompt(once)).toBe(once)
  })

  test('is sent as it was read when it has nothing to judge then', async () => {
    const { admitted, shown } = guarded('prompt')
    const rawBody = '{"input":"HIDDEN","input":[1,2]}'
    const body = JSON.parse(rawBody) as JsonObject
    const prompt: Admitted = { ...admitted, call: { body, rawBody } }
    const passed = await guardPrompt(prompt)
    expect(shown).toEqual([])
    expect(passed.call).toEqual({ body, rawBody: undefined })
  })

  test('comes as it was judged', async () => {
    const { admitted } = guarded('model_response')
    const text = '{"choices":[{"message":{"content":"HIDDEN","content":"y"}}]}'
    const body = JSON.parse(text) as JsonObject
    const passed = await guardReply(admitted, buffered(body, text))
    expect(passed).toEqual(body)
    // The text is passed on if the object is the same.
    expect(passed).not.toBe(body)
  })
})

const made = (args: string) => ({
  id: 'c',
  type: 'function',
  function: { name: 'f', arguments: args },
})

test.each([
  [
    'chat_completions',
    {
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', tool_calls: [made('{"a":1}')] },
      ],
    },
    { choices: [{ message: { role: 'assistant', tool_calls: [made('{}')] } }] },
  ],
  [
    'responses',
    { input: ['x', { type: 'function_call', name: 'f', arguments: '{"a":1}' }] },
    { output: [{ type: 'function_call', name: 'f', arguments: '{}' }] },
  ],
])('a guard of tool calls can ask for those of earlier turns: %s', async (family, body, reply) => {
  let earlier: unknown
  const guard = {
    covers: (phase: GuardPhase) => phase === 'generated_tool_call',
    inspect: async (operation: GuardedOperation) => {
      earlier = operation.earlier?.()
      return { action: 'allow' }
    },
  }
  const admitted = { requestId: 'r', ...speaking(family), route: { guard }, call: { body } }
  await guardReply(admitted as unknown as Admitted, { kind: 'buffered', body: reply } as never)
  expect(earlier).toEqual([{ tool: 'f', arguments: '{"a":1}' }])
})
