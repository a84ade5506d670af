import { ALL_MODELS } from './line.ts'

/** The names of a model in a ledger row. */
export interface LedgerModel {
  readonly upstreamModel: string
  readonly pricingModel: string
  /** The name in the gateway. */
  readonly modelKey: string
}

export interface ModelGroups {
  ofFile(model: string): string
  ofLedger(model: LedgerModel): string
}

interface Name {
  readonly base: string
  readonly date: string | undefined
}

const DATE = /[-@]?\b(20\d{2}-?\d{2}-?\d{2})\b/
/** Prefixes such as `us.anthropic.` and `openai.`, and paths. */
const PREFIXES = /^(?:[a-z][a-z-]*\.)+/i
/** `-v1:0`, `:0`, `@default`. */
const VERSION = /(?:-v?\d+)?:\d+$|@[a-z]+$/i

/**
 * A name without what differs between a vendor's price list and its API: `Claude4.6Sonnet`,
 * `Claude Sonnet 4.6` and `us.anthropic.claude-sonnet-4-6` are of one base. The words
 * are sorted, the numbers stay in their order.
 */
export function baseName(name: string): Name {
  const plain = name
    .slice(name.lastIndexOf('/') + 1)
    .replace(PREFIXES, '')
    .replace(VERSION, '')
  const date = DATE.exec(plain)?.[1]?.replaceAll('-', '')
  const parts = plain
    .replace(DATE, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/(\d)\.0(?!\d)/g, '$1')
    .toLowerCase()
    .match(/[a-z]+|\d+/g)
  const words = (parts ?? []).filter((part) => /[a-z]/.test(part) && part !== 'latest')
  const numbers = (parts ?? []).filter((part) => !/[a-z]/.test(part))
  return { base: `${words.toSorted().join(' ')} ${numbers.join('.')}`.trim(), date }
}

/**
 * Groups the names of both sides by model. `given` maps names of the file to names of the gateway,
 * and takes precedence over detection. Names with different dates are different models, unless the
 * model also has a name without a date, because a vendor bills `gpt-4o` as the version that it was
 * on that day.
 */
export function groupModels(
  files: Iterable<string>,
  ledger: readonly LedgerModel[],
  given: ReadonlyMap<string, string>,
): ModelGroups {
  const fileNames = [...files]
  if (fileNames.length > 0 && fileNames.every((name) => name === ALL_MODELS)) {
    return { ofFile: () => ALL_MODELS, ofLedger: () => ALL_MODELS }
  }
  const targets = new Set(given.values())
  const targetOf = ({ upstreamModel, pricingModel, modelKey }: LedgerModel) =>
    [upstreamModel, modelKey, pricingModel].find((name) => targets.has(name))

  const free = fileNames.filter((name) => !given.has(name))
  const fileBases = new Set(free.map((name) => baseName(name).base))
  /** The name to compare with the file. An ARN says less than the model by which it is priced. */
  const nameOf = ({ upstreamModel, pricingModel }: LedgerModel): Name => {
    const upstream = baseName(upstreamModel)
    const priced = baseName(pricingModel)
    return !fileBases.has(upstream.base) && fileBases.has(priced.base) ? priced : upstream
  }
  const undated = new Set(
    [
      ...free.map(baseName),
      ...ledger.filter((model) => targetOf(model) === undefined).map(nameOf),
    ].flatMap(({ base, date }) => (date === undefined ? [base] : [])),
  )
  const keyOf = ({ base, date }: Name) => (undated.has(base) ? base : `${base} ${date}`)
  return {
    ofFile(model) {
      const target = given.get(model)
      return target === undefined ? keyOf(baseName(model)) : `= ${target}`
    },
    ofLedger(model) {
      const target = targetOf(model)
      return target === undefined ? keyOf(nameOf(model)) : `= ${target}`
    },
  }
}
