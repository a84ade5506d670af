import { describe, expect, test } from 'bun:test'
import { type ReasoningTier, reasoningTier } from './reasoning-tiers.ts'

const ids: Readonly<Record<ReasoningTier, readonly string[]>> = {
  newest: [
    'claude-opus-4-7',
    'claude-opus-4-8',
    'claude-opus-4-12',
    'claude-opus-5',
    'claude-opus-5-5',
    'claude-opus-6-1',
    'claude-sonnet-5',
    'claude-sonnet-5-5',
    'claude-haiku-5',
    'claude-haiku-5-5@20260901',
    'claude-fable-5',
    'claude-fable-5-2',
    'claude-mythos-5',
    'claude-mythos-5-1',
    'anthropic.claude-opus-4-7',
    'us.anthropic.claude-opus-4-7-v1:0',
    'global.anthropic.claude-opus-4-7-20260401-v1:0',
    'Claude-Opus-5@default',
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-5-v1:0',
  ],
  previous_two: [
    'claude-opus-4-6',
    'claude-sonnet-4-6',
    'eu.anthropic.claude-sonnet-4-6-v1:0',
    'claude-opus-4-6@20260205',
    'claude-opus-4-6-20260205',
  ],
  preview: ['claude-mythos-preview', 'anthropic.claude-mythos-preview', 'claude-mythos-preview@1'],
  mid: [
    'claude-opus-4-5',
    'claude-opus-4-5@20251101',
    'jp.anthropic.claude-opus-4-5-20251101-v1:0',
  ],
  older: [
    'claude-sonnet-4-5',
    'claude-sonnet-4-5@20250929',
    'claude-haiku-4-5',
    'claude-haiku-4-6',
    'claude-opus-4-1',
    'claude-opus-4',
    'claude-opus-4@20250514',
    'claude-opus-4-20250514',
    'claude-sonnet-4-20250514',
    'claude-3-opus-20240229',
    'claude-3-5-sonnet-v2@20241022',
    'anthropic.claude-3-7-sonnet-20250219-v1:0',
    'claude-mythos-4',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3',
    'amazon.nova-pro-v1:0',
    '',
  ],
}

describe.each(Object.entries(ids))('%s', (tier, models) => {
  test.each(models.map((model) => [model]))('%p', (model) => {
    expect(reasoningTier(model)).toBe(tier as ReasoningTier)
  })
})
