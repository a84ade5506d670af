import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildCatalog } from './catalog.ts'
import { bookOf, differences } from './labels.ts'
import { bundledFile } from './snapshot.ts'

const FOLDER = import.meta.dir

/**
 * Makes the bundled list again from the newest packages, where it lies as a file. Says what changed; writes
 * nothing when `dry`. Throws Error when the packages cannot be had.
 */
export async function updatePrices(date: string, dry: boolean): Promise<Iterable<string>> {
  // One compiled program has no files, and none is put beside it: prices come with its releases.
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
