import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createNameList, isWildcard } from 'model-gateway/host'
import { type Command, type CommandSpec, type Database, UsageError } from 'model-gateway/plugin'
import { didYouMean } from 'model-gateway/wire'
import type { SnapshotFile } from './_shared/sheet.ts'
import { buildCatalog, type Catalog, type ModelRate, type PriceList, ratesOf } from './catalog.ts'
import { bookOf, differences } from './labels.ts'
import { shownOrigin, shownRate } from './show.ts'
import { bundledFile } from './snapshot.ts'
import { lastChange } from './store.ts'
import { updatePrices } from './update.ts'

export const commandSpecs: readonly CommandSpec[] = [
  {
    name: 'prices show',
    summary:
      'Shows the prices of a model, their source and its other names, with the overrides of the config; * matches any text',
    usage: 'MODEL [--provider PRICING_PROVIDER_ID]',
    database: 'empty',
  },
  {
    name: 'prices diff',
    summary:
      'Compares the bundled price list with a file, or with the previous list in the database',
    usage: '[SNAPSHOT_FILE]',
  },
  {
    name: 'prices update',
    summary: 'Rebuilds the bundled price list from the newest packages, and prints the changes',
    usage: '[--dry-run]',
    database: 'empty',
  },
]

export interface CommandParts {
  readonly bundled: Catalog
  /** Includes the overrides of the config. */
  readonly inForce: () => Catalog
  readonly database: Database
  readonly now: () => Date
}

export function priceCommands(parts: CommandParts): readonly Command[] {
  return [
    { name: 'prices show', run: async (args, out) => show(parts, args, out) },
    { name: 'prices diff', run: (args, out) => diff(parts, args, out) },
    { name: 'prices update', run: (args, out) => update(parts, args, out) },
  ]
}

type Out = (line: string) => void

function show({ inForce, bundled }: CommandParts, args: readonly string[], out: Out): number {
  const { values, positionals } = read(args, { provider: { type: 'string' } })
  const [model, ...more] = positionals
  if (model === undefined || more.length > 0) throw new UsageError('exactly one model is required')
  const { provider: only } = values
  const catalog = inForce()
  if (typeof only === 'string' && !catalog.has(only)) {
    throw new UsageError(
      `price list ${only} does not exist; ${didYouMean(only, catalog.keys(), 'price lists')}`,
    )
  }
  const lists = [...catalog].filter(([id]) => only === undefined || id === only)
  let found = 0
  for (const [provider, list] of lists) {
    for (const name of isWildcard(model) ? covered(list, model) : [model]) {
      const rates = ratesOf(list, name)
      if (rates === undefined) continue
      if (found > 0) out('')
      found += 1
      for (const line of shown(provider, name, rates, bundled)) out(line)
    }
  }
  if (found > 0) return 0
  const names = lists.flatMap(([, models]) => [...models.keys()])
  out(`no price list has the model ${model}${near(model, names)}`)
  out('its calls are unpriced until pricing.overrides sets its prices')
  return 1
}

/** The models of a list that a pattern covers. */
function covered(list: PriceList, pattern: string): readonly string[] {
  const names = createNameList([pattern])
  return [...list.keys()].filter((name) => names.find(name) !== undefined)
}

function* shown(
  provider: string,
  model: string,
  rates: readonly ModelRate[],
  bundled: Catalog,
): Iterable<string> {
  yield `${provider} ${model}`
  const listed = bundled.get(provider)?.get(model) ?? []
  if (rates.some(({ source }) => source === 'override')) {
    const names = new Set(rates.map((rate) => rate.model))
    const under = names.has(model) ? '' : `, under ${[...names].join(', ')}`
    yield `  from pricing.overrides of the config${under}`
    for (const rate of rates) yield* shownRate(rate)
    if (listed.length === 0) return
    yield '  instead of'
  }
  yield* shownOrigin(bundledFile, provider, model)
  for (const rate of listed) yield* shownRate(rate)
}

function near(model: string, names: readonly string[]): string {
  const hint = didYouMean(model, names, '')
  return hint.includes('did you mean') ? `; ${hint}` : ''
}

async function diff({ bundled, database }: CommandParts, args: readonly string[], out: Out) {
  const { positionals } = read(args, {})
  const [file, ...more] = positionals
  if (more.length > 0) throw new UsageError('at most one file is allowed')
  if (file !== undefined) {
    const other = readSnapshot(file)
    out(`${file}, as of ${other.date} → bundled, as of ${bundledFile.date}`)
    for (const line of differences(bookOf(buildCatalog(other.providers)), bookOf(bundled)))
      out(line)
    return
  }
  const change = await lastChange(database)
  if (change === undefined) {
    out('the database has no previous price list')
    return
  }
  out(`the price list before ${change.at.toISOString()} → bundled, as of ${bundledFile.date}`)
  for (const line of differences(change.before, change.after)) out(line)
}

function readSnapshot(file: string): SnapshotFile {
  try {
    const read = JSON.parse(readFileSync(file, 'utf8')) as Partial<SnapshotFile>
    if (typeof read.providers !== 'object' || read.providers === null) {
      throw new Error('it has no providers')
    }
    return { date: 'an unknown day', sources: {}, ...read, providers: read.providers }
  } catch (error) {
    throw new UsageError(`${file} is not a snapshot of prices: ${(error as Error).message}`)
  }
}

async function update({ now }: CommandParts, args: readonly string[], out: Out): Promise<number> {
  const { values, positionals } = read(args, { 'dry-run': { type: 'boolean' } })
  if (positionals.length > 0) throw new UsageError('the command takes no arguments')
  const dry = values['dry-run'] === true
  try {
    for (const line of await updatePrices(now().toISOString().slice(0, 10), dry)) out(line)
  } catch (error) {
    out(`the price list is unchanged: ${(error as Error).message}`)
    return 1
  }
  out(dry ? 'nothing was written' : 'written; restart the gateway to use the new list')
  return 0
}

function read(
  args: readonly string[],
  options: NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>,
) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
