import { expect, test } from 'bun:test'
import { hasChatAlone, needsResponses, takesEffort } from './reasoning-models.ts'

test.each<[string, ReturnType<typeof takesEffort>, boolean]>([
  ['gpt-4.1-mini', false, false],
  ['gpt-4o', false, false],
  ['gpt-4o-mini-2024-07-18', false, false],
  ['chatgpt-4o-latest', false, false],
  ['gpt-35-turbo', false, false],
  ['gpt-3.5-turbo-0125', false, false],
  ['o1', true, false],
  ['o3-mini-2025-01-31', true, false],
  ['openai/o4-mini', true, false],
  ['o1-mini', false, false],
  ['o1-pro-2025-03-19', true, true],
  ['o3-pro', true, true],
  ['o4-mini-deep-research', false, true],
  ['gpt-5', true, false],
  ['gpt-5-mini-2025-08-07', true, false],
  ['gpt-5.1', true, false],
  ['gpt-5.2', true, false],
  ['gpt-5-chat-latest', false, false],
  ['gpt-5.3-chat-latest', false, false],
  ['gpt-5-pro', true, true],
  ['gpt-5.1-codex-max', true, true],
  ['gpt-5.4', 'without_tools', true],
  ['gpt-5.4-mini-2026-03-17', 'without_tools', true],
  ['openai/gpt-5.5', 'without_tools', true],
  ['global.openai.gpt-5.6-sol', 'without_tools', true],
  ['gpt-6-astra', 'without_tools', true],
  ['gpt-6.1-terra', 'without_tools', true],
  ['openai.gpt-oss-120b-1:0', true, false],
  ['grok-3-mini', true, false],
  ['grok-4.3-latest', true, false],
  ['x-ai/grok-4', undefined, false],
  ['grok-4.20-reasoning', undefined, false],
  ['deepseek-reasoner', true, false],
  ['deepseek-ai/DeepSeek-V4-Pro', true, false],
  ['deepseek-chat', undefined, false],
  ['gemini-2.5-flash', true, false],
  ['gemini-2.0-flash', undefined, false],
  ['Qwen/Qwen3-32B', undefined, false],
  ['my-deployment', undefined, false],
])('%s: effort %p, responses needed: %p', (model, effort, responses) => {
  expect([takesEffort(model), needsResponses(model)]).toEqual([effort, responses])
})

test.each<[string, boolean]>([
  ['gpt-4o', true],
  ['openai/gpt-6-luna', true],
  ['o3-mini', true],
  ['chatgpt-4o-latest', true],
  ['gpt-3.5-turbo-instruct', false],
  ['davinci-002', false],
  ['openai/gpt-oss-20b', false],
  ['EleutherAI/gpt-j-6b', false],
  ['Qwen/Qwen3-32B', false],
])('%s has chat alone: %p', (model, expected) => {
  expect(hasChatAlone(model)).toBe(expected)
})
