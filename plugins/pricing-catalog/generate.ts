/**
 * Writes snapshot.json from the price list in `@pydantic/genai-prices` and from supplement.json:
 *
 *     bun plugins/pricing-catalog/generate.ts
 */
import { findProvider, type Provider } from '@pydantic/genai-prices'
import { bedrockNamesOf, namesOf, rowsOf, vertexClaudeNamesOf } from './convert.ts'
import type { SnapshotRow } from './snapshot.ts'
import supplement from './supplement.json' with { type: 'json' }

type Model = Provider['models'][number]
type Rows = Record<string, SnapshotRow[]>

const SOURCE = '@pydantic/genai-prices 0.1.8'

/** Lists that are taken as they are. Left out: lists in another currency or in credits. */
const sameId = [
  'anthropic',
  'arcee',
  'avian',
  'azure',
  'baseten',
  'cerebras',
  'cloudflare',
  'cohere',
  'deepseek',
  'doubleword',
  'fireworks',
  'groq',
  'huggingface_cerebras',
  'huggingface_fireworks-ai',
  'huggingface_groq',
  'huggingface_hyperbolic',
  'huggingface_nebius',
  'huggingface_novita',
  'huggingface_nscale',
  'huggingface_ovhcloud',
  'huggingface_publicai',
  'huggingface_sambanova',
  'huggingface_together',
  'mistral',
  'modal',
  'moonshotai',
  'novita',
  'openai',
  'openrouter',
  'ovhcloud',
  'perplexity',
  'together',
  'voyageai',
  'x-ai',
  'zai',
]

export function generate(): string {
  const providers: Record<string, Rows> = {}
  for (const id of sameId) providers[id] = collect(modelsOf(id), (m) => namesOf(m.id, m.match))
  providers['amazon-bedrock'] = collect(modelsOf('aws'), (m) => bedrockNamesOf(m.id, m.match))
  providers['google-vertex'] = collect(
    // Claude is another publisher, with its own identity below.
    modelsOf('google').filter((m) => !m.id.startsWith('claude')),
    (m) => namesOf(m.id, m.match),
  )
  for (const { provider, model, rates } of supplement.prices) {
    add(providers, provider, model, [rates])
  }
  for (const { provider, of } of supplement.names) {
    for (const [model, names] of Object.entries(of)) {
      const rows = providers[provider]?.[model]
      if (rows === undefined) throw new Error(`supplement: ${provider} has no model ${model}`)
      for (const name of names) add(providers, provider, name, rows)
    }
  }
  const claude: Rows = {}
  for (const [model, rows] of Object.entries(providers.anthropic ?? {})) {
    for (const name of vertexClaudeNamesOf(model)) claude[name] = rows
  }
  providers['google-vertex-anthropic'] = claude
  return `${JSON.stringify({
    source: SOURCE,
    unit: 'USD per million tokens',
    providers: Object.fromEntries(
      Object.entries(providers)
        .sort(byName)
        .map(([id, models]) => [id, Object.fromEntries(Object.entries(models).sort(byName))]),
    ),
  })}\n`
}

function modelsOf(providerId: string): readonly Model[] {
  const provider = findProvider({ providerId })
  // The look-up falls back on patterns.
  if (provider?.id !== providerId) throw new Error(`the price list has no provider ${providerId}`)
  return provider.models
}

/** A model's own id, its first name, wins over a name of another; else the first model has it. */
function collect(models: readonly Model[], names: (model: Model) => string[]): Rows {
  const rows: Rows = {}
  for (const model of models) rows[names(model)[0] ?? model.id] ??= rowsOf(model.prices)
  for (const model of models) {
    for (const name of names(model)) rows[name] ??= rowsOf(model.prices)
  }
  return rows
}

/** Only what the list lacks: once it has caught up, the entry has to go. */
function add(
  providers: Record<string, Rows>,
  id: string,
  model: string,
  rows: SnapshotRow[],
): void {
  const models = providers[id]
  if (models === undefined) throw new Error(`supplement: unknown provider ${id}`)
  if (models[model] !== undefined) throw new Error(`supplement: ${id} has ${model} by now`)
  models[model] = rows
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0
}

if (import.meta.main) {
  const path = `${import.meta.dir}/snapshot.json`
  await Bun.write(path, generate())
  Bun.spawnSync(['bun', 'x', 'biome', 'format', '--write', path], { stdout: 'inherit' })
}
