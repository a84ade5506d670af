import { shownPrice } from './_shared/money.ts'
import { type Hours, rowsIn, type SnapshotFile, tokenUnits, type Unit } from './_shared/sheet.ts'
import type { ModelRate, PriceSheet } from './catalog.ts'
import disagreements from './disagreements.json' with { type: 'json' }

const TOKENS: ReadonlySet<Unit> = new Set(tokenUnits)
const LABEL = 34
const COLUMN = 10

/** The source, other names and conflicts of a model in the bundled list. */
export function* shownOrigin(
  { date, sources, providers }: SnapshotFile,
  provider: string,
  model: string,
): Iterable<string> {
  const models = providers[provider] ?? {}
  const rows = rowsIn(models, model)
  if (rows.length === 0) return
  const lists = [...new Set(rows.flatMap(({ by = [] }) => by))]
  const named = lists.map((list) => [list, sources[list]].filter(Boolean).join(' '))
  yield `  from ${named.join(', ')}; as of ${date}`
  const names = Object.keys(models).filter((name) => rowsIn(models, name) === rows)
  const others = names.filter((name) => name !== model)
  if (others.length > 0) yield `  also known as ${others.join(', ')}`
  for (const { prices, taken, why, ...of } of disagreements) {
    if (of.provider !== provider || !names.includes(of.model)) continue
    yield `  the lists disagree on ${Object.keys(prices).join(', ')}; used is ${taken}: ${why}`
  }
}

/** A table of the prices: units by tiers. */
export function* shownRate(rate: ModelRate): Iterable<string> {
  const { usual, tiers, hours, from, until } = rate
  const days = [from && `from ${from}`, until && `until the day before ${until}`].filter(Boolean)
  if (days.length > 0) yield `  ${days.join(', ')}`
  const columns = [['usual', usual] as const, ...tiers]
  yield* table('USD per million tokens', columns, (unit) => TOKENS.has(unit))
  yield* table('USD per thousand', columns, (unit) => !TOKENS.has(unit))
  for (const each of hours) yield `  ${shownHours(each)}`
}

type Columns = readonly (readonly [string, PriceSheet])[]

function* table(title: string, columns: Columns, is: (unit: Unit) => boolean): Iterable<string> {
  const units = new Set(columns.flatMap(([, { prices }]) => [...prices.keys()].filter(is)))
  const priced = columns.filter(([, { prices }]) => [...units].some((unit) => prices.has(unit)))
  if (priced.length === 0) return
  const line = (label: string, cell: (column: Columns[number]) => string) => {
    const cells = priced.map((column) =>
      cell(column).padStart(Math.max(COLUMN, column[0].length + 2)),
    )
    return `${label.padEnd(LABEL)}${cells.join('')}`
  }
  yield line(`  ${title}`, ([name]) => name)
  for (const unit of units) {
    yield line(`    ${unit}`, ([, { prices }]) => shown(unit, prices.get(unit)))
    const long = priced.flatMap(([, sheet]) => sheet.long.filter(({ prices }) => prices.has(unit)))
    const lengths = [...new Set(long.map(({ above }) => above))].sort((a, b) => a - b)
    for (const length of lengths) {
      yield line(`      prompts above ${length}`, ([, sheet]) => {
        const longer = sheet.long.find(({ above }) => above === length)
        return shown(unit, longer?.prices.get(unit) ?? sheet.prices.get(unit))
      })
    }
  }
}

function shown(unit: Unit, pico: bigint | undefined): string {
  return pico === undefined ? '-' : shownPrice(unit, pico)
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

function shownHours({ tier, utc, weekdays, except = [] }: Hours): string {
  const days =
    weekdays === undefined ? '' : ` on ${weekdays.map((day) => WEEKDAYS[day - 1]).join(' ')}`
  const not = except.length === 0 ? '' : `, but not on ${except.join(', ')}`
  return `${tier} is at ${utc.join(', ')} UTC${days}${not}`
}
