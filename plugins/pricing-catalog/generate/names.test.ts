import { expect, test } from 'bun:test'
import { bedrockNamesOf, matches, namesOf, vertexClaudeNamesOf } from './names.ts'

test('names are the id and exact rules, not patterns', () => {
  const or_ = [{ equals: 'b' }, { starts_with: 'c' }, { equals: 'a' }]
  expect(namesOf({ id: 'a', match: { or_ } })).toEqual(['a', 'b'])
  expect(namesOf({ id: 'a', match: { equals: 'b' } })).toEqual(['a', 'b'])
  expect(namesOf({ id: 'a', match: { regex: '^a-\\d+$' } })).toEqual(['a'])
})

test('a rule applies to the names that match it', () => {
  const rule = { and_: [{ starts_with: 'gpt-5' }, { regex: '^(?!.*-tts)' }] }
  expect(['gpt-5-2026', 'GPT-5', 'gpt-5-tts', 'o3'].map((name) => matches(rule, name))).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(matches({ or_: [{ ends_with: '-x' }, { contains: 'y' }] }, 'a-x')).toBe(true)
})

test('Bedrock: geographies stay in the name; -v1:0 and -v1 are optional', () => {
  const or_ = [{ starts_with: 'anthropic.claude-x' }, { contains: 'us.anthropic.claude-x' }]
  expect(bedrockNamesOf({ id: 'regional.anthropic.claude-x-v1:0', match: { or_ } })).toEqual([
    'anthropic.claude-x-v1:0',
    'anthropic.claude-x',
    'us.anthropic.claude-x',
    'us.anthropic.claude-x-v1:0',
  ])
  const undated = bedrockNamesOf({
    id: 'regional.anthropic.claude-opus-4-6-v1:0',
    match: { ends_with: '/us.anthropic.claude-opus-4-6' },
  })
  expect(undated).toEqual([
    'anthropic.claude-opus-4-6-v1:0',
    'anthropic.claude-opus-4-6',
    'anthropic.claude-opus-4-6-v1',
    'us.anthropic.claude-opus-4-6',
    'us.anthropic.claude-opus-4-6-v1:0',
    'us.anthropic.claude-opus-4-6-v1',
  ])
  const match = { contains: 'vendor.y' }
  expect(bedrockNamesOf({ id: 'vendor.y-v2:0', match })).toEqual(['vendor.y-v2:0'])
})

test('Vertex AI: dates after @, @default for undated Claude models', () => {
  expect(vertexClaudeNamesOf('claude-x-20250929')).toEqual([
    'claude-x-20250929',
    'claude-x@20250929',
  ])
  expect(vertexClaudeNamesOf('claude-x')).toEqual(['claude-x', 'claude-x@default'])
})
