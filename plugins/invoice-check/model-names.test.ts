import { expect, test } from 'bun:test'
import { groupModels, type LedgerModel } from './model-names.ts'

function ledgerModel(upstreamModel: string, changes: Partial<LedgerModel> = {}): LedgerModel {
  return { upstreamModel, pricingModel: upstreamModel, modelKey: 'key', ...changes }
}

/** The ledger names that match each name of the file. */
function matched(
  files: readonly string[],
  ledger: readonly LedgerModel[],
  given: Readonly<Record<string, string>> = {},
) {
  const groups = groupModels(files, ledger, new Map(Object.entries(given)))
  return Object.fromEntries(
    files.map((file) => [
      file,
      ledger
        .filter((model) => groups.ofLedger(model) === groups.ofFile(file))
        .map(({ upstreamModel }) => upstreamModel),
    ]),
  )
}

test.each([
  ['Claude4.6Sonnet', 'us.anthropic.claude-sonnet-4-6-20260201-v1:0'],
  ['Claude Sonnet 4.6', 'anthropic/claude-sonnet-4.6'],
  ['Claude 3 Haiku', 'anthropic.claude-3-haiku-20240307-v1:0'],
  ['claude-haiku-4-5-20251001', 'claude-haiku-4-5@20251001'],
  ['Claude Opus 4.5', 'claude-opus-4-5@20251101'],
  ['NovaPro', 'us.amazon.nova-pro-v1:0'],
  ['Nova2.0Lite', 'amazon.nova-2-lite-v1:0'],
  ['openai.gpt-oss-120b', 'openai.gpt-oss-120b-1:0'],
  ['Gemini 2.5 Flash', 'google/gemini-2.5-flash'],
  ['Gemini 2.0 Flash', 'publishers/google/models/gemini-2.0-flash'],
  ['gpt-4o-2024-08-06', 'gpt-4o'],
  ['gpt-5-mini-2025-08-07', 'gpt-5-mini'],
])('%s is %s', (file, upstream) => {
  expect(matched([file], [ledgerModel(upstream)])).toEqual({ [file]: [upstream] })
})

test.each([
  ['gpt-4o', 'gpt-4o-mini'],
  ['gpt-5.1', 'gpt-5'],
  ['o4-mini', 'gpt-4o-mini'],
  ['Claude Sonnet 4.5', 'claude-sonnet-4-6'],
  ['Claude Sonnet 4', 'claude-opus-4'],
  ['Gemini 2.5 Flash', 'gemini-2.5-flash-lite'],
])('%s is not %s', (file, upstream) => {
  expect(matched([file], [ledgerModel(upstream)])).toEqual({ [file]: [] })
})

test('versions are separate models if all names have one, else one model', () => {
  const versions = ['gpt-4o-2024-05-13', 'gpt-4o-2024-08-06']
  const dated = versions.map((name) => ledgerModel(name))
  expect(matched(versions, dated)).toEqual({
    'gpt-4o-2024-05-13': ['gpt-4o-2024-05-13'],
    'gpt-4o-2024-08-06': ['gpt-4o-2024-08-06'],
  })
  const all = [...versions, 'gpt-4o']
  expect(matched(versions, [...dated, ledgerModel('gpt-4o')])).toEqual({
    'gpt-4o-2024-05-13': all,
    'gpt-4o-2024-08-06': all,
  })
})

test('an ARN matches by its pricing model', () => {
  const arn = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x1y2'
  const model = ledgerModel(arn, { pricingModel: 'anthropic.claude-sonnet-4-6' })
  expect(matched(['Claude4.6Sonnet'], [model])).toEqual({ 'Claude4.6Sonnet': [arn] })
})

test('a given mapping takes precedence: by upstream model, or by gateway model', () => {
  const ledger = [
    ledgerModel('deployment-7', { modelKey: 'smart' }),
    ledgerModel('claude-opus-4-5', { modelKey: 'smart' }),
    ledgerModel('claude-haiku-4-5', { modelKey: 'fast' }),
  ]
  expect(matched(['Claude Opus 4.5', 'Model X'], ledger, { 'Model X': 'deployment-7' })).toEqual({
    'Claude Opus 4.5': ['claude-opus-4-5'],
    'Model X': ['deployment-7'],
  })
  expect(matched(['Model X'], ledger, { 'Model X': 'smart' })).toEqual({
    'Model X': ['deployment-7', 'claude-opus-4-5'],
  })
})

test('a file without models covers all models', () => {
  const ledger = [ledgerModel('a'), ledgerModel('b')]
  expect(matched(['*'], ledger)).toEqual({ '*': ['a', 'b'] })
})
