import { expect, test } from 'bun:test'
import { strictObject } from 'model-gateway/plugin'
import { readConfig } from '../../kernel/boot/read-config.ts'
import type { Builtins } from '../../kernel/registry/resolve.ts'
import { builtins } from '../standard/builtins.ts'
import wordCheck from './__fixtures__/word-check.ts'
import { guardrails } from './config.ts'
import { managedCheckKinds } from './contract.ts'

const upstream = { id: 'up', type: 'simulator' }
const route = { provider: 'up', upstream_model: 'org/model' }
const words = { kind: 'word_list', phases: ['prompt'], word_list: { denied_word: 'x' } }

/** The problems that the real loader reports for these guardrails. */
async function load(section: unknown, others: Builtins = {}) {
  const config = {
    providers: [upstream],
    models: [{ id: 'm', routes: [route] }],
    ...(section !== undefined && { guardrails: section }),
  }
  const source = { text: JSON.stringify(config), file: 'gateway.yaml' }
  const plugins = { ...others, ...builtins, 'word-check': wordCheck }
  const read = await readConfig(source, plugins, {})
  const problems = read.problems.map(
    ({ path, message, hint = '' }) => `${path.join(' ')}: ${message} (${hint})`,
  )
  return { problems, section: read.loaded?.snapshot.section(guardrails) }
}

test('without a section nothing is enabled, and the defaults are those of the contract', async () => {
  const { problems, section } = await load(undefined)
  expect(problems).toEqual([])
  expect(section).toEqual({
    default: {
      enabled: false,
      mode: 'audit',
      on_deny: 'error',
      packs: [],
      managed_checks: [],
      stream_buffer_bytes: 4_194_304,
      stream_buffer_timeout_ms: 120_000,
    },
    managed_checks: {},
    model_routes: {},
    mcp_servers: {},
    decisions_retention: '30d',
  })
})

test('names and aliases of packs and kinds, and overrides without defaults', async () => {
  const { problems, section } = await load({
    default: { enabled: true, packs: ['core.shell', 'cloud.aws'], managed_checks: ['a', 'b'] },
    managed_checks: {
      a: words,
      b: { kind: 'words', phases: ['prompt'], words: { denied_word: 'y' }, timeout_ms: 120_000 },
    },
    model_routes: { 'm/up/org/model': { mode: 'deny' } },
  })
  expect(problems).toEqual([])
  expect(section?.model_routes).toEqual({ 'm/up/org/model': { mode: 'deny' } })
  expect(section?.managed_checks.a).toMatchObject({
    timeout_ms: 2_000,
    failure_disposition: 'fail_open',
    max_content_bytes: 262_144,
    word_list: { denied_word: 'x', mask: '[masked]' },
  })
  expect(section?.managed_checks.b).toMatchObject({ word_list: { denied_word: 'y' } })
})

test('a kind may have the name of what every object has', async () => {
  const spec = { kind: 'constructor', phases: ['prompt'], config: strictObject({}) }
  const declares = [{ point: managedCheckKinds, spec }]
  const manifest = { ...wordCheck.manifest, id: 'check.odd' as const, declares }
  const odd = { kind: 'constructor', phases: ['prompt'] }
  const { problems } = await load(
    { managed_checks: { a: words, b: { ...odd, constructor: {} }, c: odd } },
    { odd: { manifest, setup() {} } },
  )
  expect(problems).toEqual([
    'guardrails managed_checks c constructor: is required (write the settings of the check under constructor)',
  ])
})

const broken: readonly (readonly [what: string, section: unknown, problem: string])[] = [
  [
    'an unknown pack',
    { default: { packs: ['core.shel'] } },
    'guardrails default packs 0: unknown pack "core.shel" (did you mean "core.shell"?)',
  ],
  [
    'a pack twice, by its alias',
    { default: { packs: ['saas.notion', 'saas.notes'] } },
    'guardrails default packs 1: saas.notes is listed twice ()',
  ],
  [
    'an unknown managed check',
    { default: { managed_checks: ['pi'] }, managed_checks: { pii: words } },
    'guardrails default managed_checks 0: guardrails.managed_checks has no check "pi" (did you mean "pii"?)',
  ],
  [
    'a managed check twice',
    { default: { managed_checks: ['a', 'a'] }, managed_checks: { a: words } },
    'guardrails default managed_checks 1: a is listed twice ()',
  ],
  [
    'a route that is not configured',
    { model_routes: { 'm/up/model': { mode: 'deny' } } },
    'guardrails model_routes m/up/model: is not a configured route; write {model}/{provider}/{upstream_model} (did you mean "m/up/org/model"?)',
  ],
  [
    'a server that is not declared',
    { mcp_servers: { notes: { mode: 'deny' } } },
    'guardrails mcp_servers notes: is not declared under mcp.servers (no servers exist)',
  ],
  [
    'a phase that the kind does not support',
    { managed_checks: { a: { ...words, phases: ['prompt', 'harness_pre_tool'] } } },
    'guardrails managed_checks a phases 1: word_list does not support the phase harness_pre_tool (it supports prompt, model_response, generated_tool_call)',
  ],
  [
    'a phase twice',
    { managed_checks: { a: { ...words, phases: ['prompt', 'prompt'] } } },
    'guardrails managed_checks a phases 1: prompt is listed twice ()',
  ],
  [
    'an unknown kind',
    { managed_checks: { a: { ...words, kind: 'word_lists' } } },
    'guardrails managed_checks a kind: unknown kind "word_lists" (did you mean "word_list"?)',
  ],
  [
    'a kind without its settings',
    { managed_checks: { a: { kind: 'words', phases: ['prompt'] } } },
    'guardrails managed_checks a word_list: is required (write the settings of the check under word_list)',
  ],
  [
    'what the kind itself refuses',
    { managed_checks: { a: { ...words, word_list: { denied_word: 'the' } } } },
    'guardrails managed_checks a word_list denied_word: is in every text ()',
  ],
  [
    'a name that no check can have',
    { managed_checks: { 'core.shell': words } },
    'guardrails managed_checks core.shell: is not a valid name for a check (use letters, digits, _ and -, beginning with a letter, at most 64 characters)',
  ],
]

test.each(broken)('%s is one named problem', async (_, section, problem) => {
  const { problems } = await load(section)
  expect(problems).toEqual([problem])
})

test.each([
  [{ default: { stream_buffer_timeout_ms: 600_001 } }, 'default stream_buffer_timeout_ms'],
  [{ default: { stream_buffer_bytes: 0 } }, 'default stream_buffer_bytes'],
  [{ default: { mode: 'block' } }, 'default mode'],
  [{ default: { enable: true } }, 'default enable'],
  [{ managed_checks: { a: { ...words, timeout_ms: 120_001 } } }, 'managed_checks a timeout_ms'],
  [{ managed_checks: { a: { ...words, timeout_ms: 0 } } }, 'managed_checks a timeout_ms'],
  [{ managed_checks: { a: { ...words, phases: [] } } }, 'managed_checks a phases'],
  [
    { managed_checks: { a: { ...words, word_list: {} } } },
    'managed_checks a word_list denied_word',
  ],
  [{ decisions_retention: '0d' }, 'decisions_retention'],
])('bounds and shapes: %j', async (section, path) => {
  const { problems } = await load(section)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toStartWith(`guardrails ${path}: `)
})

test('eight broken policies, eight named problems, in one go', async () => {
  const { problems } = await load({
    default: { packs: ['core.shel'], managed_checks: ['nope'], stream_buffer_timeout_ms: 700_000 },
    managed_checks: {
      a: { ...words, phases: ['mcp_call'] },
      b: { ...words, timeout_ms: 0 },
      c: { kind: 'cloud_b_guardrai', phases: ['prompt'] },
    },
    model_routes: { 'm/up/nope': {} },
    mcp_servers: { nope: {} },
  })
  expect(problems.map((problem) => problem.split(':')[0])).toEqual([
    'guardrails default packs 0',
    'guardrails default managed_checks 0',
    'guardrails default stream_buffer_timeout_ms',
    'guardrails managed_checks a phases 0',
    'guardrails managed_checks b timeout_ms',
    'guardrails managed_checks c kind',
    'guardrails model_routes m/up/nope',
    'guardrails mcp_servers nope',
  ])
})

test('names that a failed plugin may provide are not reported as unknown', async () => {
  const config = {
    plugins: [{ use: 'builtin:*' }, { use: './nowhere.ts' }],
    providers: [upstream],
    models: [{ id: 'm', routes: [route] }],
    guardrails: {
      default: { enabled: true, packs: ['custom.own'], managed_checks: ['own'] },
      managed_checks: { own: { kind: 'own_kind', phases: ['prompt'], own_kind: { url: 'x' } } },
    },
  }
  const source = { text: JSON.stringify(config), file: '/nowhere/gateway.yaml' }
  const { problems } = await readConfig(source, builtins, {})
  expect(problems.map(({ path }) => path.join('.'))).toEqual(['plugins.1.use'])
})
