/**
 * Writes snapshot.json and disagreements.json from the pinned price lists and from supplement.json:
 *
 *     bun plugins/pricing-catalog/generate/main.ts
 */
import { join } from 'node:path'
import type { SnapshotFile, SnapshotModels, SnapshotRow } from '../_shared/sheet.ts'
import { parseNumbersAsText } from './decimal.ts'
import { type Pins, pins, readSources, type SourceTexts } from './fetch.ts'
import type { ListedProvider } from './genai-prices.ts'
import { addOther } from './join.ts'
import { lists } from './lists.ts'
import type { LiteLlmEntry } from './litellm.ts'
import { type Model, modelsOf, type Sources } from './models.ts'
import type { ModelsDev } from './models-dev.ts'
import { vertexClaudeNamesOf } from './names.ts'
import type { Disagreement } from './settle.ts'
import { addFees, addModels, addMultiples } from './supplement.ts'

export interface Generated {
  readonly snapshot: SnapshotFile
  readonly disagreements: readonly Disagreement[]
}

export function generate(texts: SourceTexts, pins: Pins): Generated {
  const sources: Sources = {
    date: pins.date,
    genai: JSON.parse(texts['genai-prices']) as readonly ListedProvider[],
    litellm: parseNumbersAsText(texts.litellm) as Readonly<Record<string, LiteLlmEntry>>,
    modelsDev: parseNumbersAsText(texts['model-prices']) as ModelsDev,
  }
  const disagreements: Disagreement[] = []
  const byProvider = new Map<string, Model[]>()
  for (const list of lists) {
    const models = list.id === VERTEX_CLAUDE ? vertexClaude(byProvider) : modelsOf(list, sources)
    addOther(models, list, sources, disagreements)
    addModels(models, list.id)
    addFees(models, list.id)
    addMultiples(models, list.id)
    byProvider.set(list.id, models)
  }
  const providers = [...byProvider].map(([id, models]) => [id, byName(models)] as const)
  const versions = Object.entries(pins.sources).map(([name, { version }]) => [name, version])
  const snapshot = {
    date: pins.date,
    sources: Object.fromEntries(versions),
    providers: sorted(providers),
  }
  return { snapshot, disagreements }
}

const VERTEX_CLAUDE = 'google-vertex-anthropic'

/** Anthropic's list at Google: different names, without its fees and fast mode. */
function vertexClaude(byProvider: ReadonlyMap<string, readonly Model[]>): Model[] {
  const models = byProvider.get('anthropic') ?? []
  return models.map(({ names, rows, withheld }) => ({
    names: names.flatMap(vertexClaudeNamesOf),
    withheld,
    rows: rows.map(({ tiers: { batch } = {}, web_fetch: _, ...row }) => ({
      ...row,
      ...(batch && { tiers: { batch } }),
      by: row.by?.filter((source) => source !== 'supplement') ?? [],
    })),
  }))
}

function byName(models: readonly Model[]): SnapshotModels {
  type Named = readonly [string, readonly SnapshotRow[] | string]
  const named = models.flatMap(({ names: [own = '', ...others], rows }): Named[] => [
    [own, rows],
    ...others.map((name): Named => [name, own]),
  ])
  return sorted(named)
}

function sorted<V>(entries: readonly (readonly [string, V])[]): Record<string, V> {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
}

/** JSON with one line per model, so that versions can be compared with diff. */
export function snapshotText({ providers, ...head }: SnapshotFile): string {
  const lists = Object.entries(providers).map(([id, models]) => {
    const lines = Object.entries(models).map(
      ([name, rows]) => `      ${JSON.stringify(name)}: ${JSON.stringify(rows)}`,
    )
    return `    ${JSON.stringify(id)}: {\n${lines.join(',\n')}\n    }`
  })
  const opening = JSON.stringify(head, null, 2).slice(0, -2)
  return `${opening},\n  "providers": {\n${lists.join(',\n')}\n  }\n}\n`
}

/**
 * Writes the result to the folder of the plugin, with the pins, and their versions in the notice.
 */
export async function writeList(folder: string, newest: Pins, made: Generated): Promise<void> {
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
  await Bun.write(join(folder, 'snapshot.json'), snapshotText(made.snapshot))
  await Bun.write(join(folder, 'disagreements.json'), json(made.disagreements))
  await Bun.write(join(folder, 'generate', 'sources.json'), json(newest))
  const notice = join(folder, 'NOTICE')
  let text = await Bun.file(notice).text()
  for (const [name, { version }] of Object.entries(newest.sources)) {
    text = text.replace(new RegExp(`^${name} \\S+ \\(`, 'm'), `${name} ${version} (`)
  }
  await Bun.write(notice, text)
}

if (import.meta.main) {
  await writeList(join(import.meta.dir, '..'), pins, generate(await readSources(pins), pins))
}
