import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildCatalog } from './catalog.ts'
import { bookOf, differences } from './labels.ts'
import { bundledFile } from './snapshot.ts'

const FOLDER = import.meta.dir

/**
 * Rebuilds the bundled list from the newest packages and returns the changes; writes nothing when
 * `dry`. Throws Error if the packages are not available, or in a compiled binary.
 */
export async function updatePrices(date: string, dry: boolean): Promise<Iterable<string>> {
  // A compiled binary has no source files; its prices are updated by releases.
  if (!existsSync(join(FOLDER, 'generate', 'literals.py'))) {
    throw new Error(
      'this binary contains its price list: upgrade the gateway for a newer list, and set prices in pricing.overrides until then',
    )
  }
  const { newestPins, readSources } = await import('./generate/fetch.ts')
  const { generate, writeList } = await import('./generate/main.ts')
  const pins = await newestPins(date)
  const made = generate(await readSources(pins), pins)
  if (!dry) await writeList(FOLDER, pins, made)
  const before = bookOf(buildCatalog(bundledFile.providers))
  return changes(before, made)
}

function* changes(
  before: ReturnType<typeof bookOf>,
  { snapshot, disagreements }: Awaited<ReturnType<typeof import('./generate/main.ts')['generate']>>,
): Iterable<string> {
  for (const [source, version] of Object.entries(snapshot.sources)) {
    const old = bundledFile.sources[source]
    yield old === version ? `${source} ${version}` : `${source} ${old} → ${version}`
  }
  yield* differences(before, bookOf(buildCatalog(snapshot.providers)))
  yield `${disagreements.length} models with conflicting prices: disagreements.json`
}
